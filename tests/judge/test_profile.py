"""A real judgement, and what it says of a call: kernels, launches, bytes."""

from __future__ import annotations

import json

from tests.conftest import SCALE_MODEL, submit

from cuda_gym.core.findings import Outcome
from cuda_gym.core.plain import as_plain
from cuda_gym.core.task import Submission, Task
from cuda_gym.envs.feedback.profile_page import describe_verdict
from cuda_gym.judge.judge import Judge

TWO_KERNELS = """\
__global__ void exp_kernel(float* out, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = expf(x[i]);
}
__global__ void times_kernel(float* out, const float* weight, int columns) {
    __shared__ float factor[32];
    factor[threadIdx.x] = blockIdx.x * 32 + threadIdx.x < columns ? weight[blockIdx.x * 32 + threadIdx.x] : 0.0f;
    __syncthreads();
    int column = blockIdx.x * 32 + threadIdx.x;
    if (column < columns) out[blockIdx.y * columns + column] *= factor[threadIdx.x];
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream) {
    int half = rows * columns / 2, rest = rows * columns - half;
    exp_kernel<<<(half + 255) / 256, 256, 0, stream>>>(out, x, half);
    exp_kernel<<<(rest + 255) / 256, 256, 0, stream>>>(out + half, x + half, rest);
    times_kernel<<<dim3((columns + 31) / 32, rows), 32, 0, stream>>>(out, weight, columns);
}
"""
ROWS, COLUMNS = 96, 160


def test_a_verdict_says_which_kernels_a_call_launched_and_what_the_task_moves(
    judge: Judge, scale_task: Task
) -> None:
    submission = submit(SCALE_MODEL, TWO_KERNELS)
    verdict = judge.judge(scale_task, submission)
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    profile = verdict.profile
    assert profile is not None
    exp, times = profile.kernels
    assert (exp.name, exp.launches, exp.grid, exp.mode) == ("exp_kernel", 2, (30, 1, 1), "loop")
    assert (times.name, times.launches, times.grid) == ("times_kernel", 1, (5, ROWS, 1))
    assert (times.block, times.mode) == ((32, 1, 1), "phases")
    assert profile.call_us is not None
    assert 0 < exp.total_us + times.total_us <= profile.call_us * 1.05
    assert profile.work is not None
    assert profile.work.read_bytes == 4 * (ROWS * COLUMNS + COLUMNS)
    assert profile.work.written_bytes == 4 * ROWS * COLUMNS
    assert profile.work.flops == 2 * ROWS * COLUMNS
    assert profile.rates is not None
    assert profile.rates.num_cores >= 1
    json.dumps(as_plain(verdict))
    page = describe_verdict(verdict, submission)
    assert "2 launches, grid 30, block 256, runs as loop" in page
    assert "Roofline (memory): at least 123.5 kB" in page


def test_a_submission_that_breaks_after_the_race_keeps_its_verdict_and_loses_its_profile(
    judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    source = SCALE_MODEL.replace(
        "        out = torch.empty_like(x)\n",
        "        import sys\n"
        "        frame = sys._getframe()\n"
        "        while frame is not None:\n"
        "            if getattr(frame.f_locals.get('message'), 'time_kernels', False):\n"
        "                raise RuntimeError('now')\n"
        "            frame = frame.f_back\n"
        "        out = torch.empty_like(x)\n",
    )
    files = dict(scale_submission.files) | {"model_new.py": source}
    verdict = judge.judge(scale_task, Submission.of(files))
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.profile is not None
    assert verdict.profile.kernels == ()


def test_a_device_without_counters_says_so_and_times_all_the_same(
    judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    verdict = judge.judge(scale_task, scale_submission, counters=True)
    assert verdict.timing is not None
    assert verdict.profile is not None
    assert verdict.profile.counters == ()
    assert verdict.profile.no_counters == "The device cpu offers no counters"
