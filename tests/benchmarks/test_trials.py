"""Trials of real builds: each rule, the oracle, and mutants that hang, crash or leave their memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.mutation.right_kernels import RightKernel, right_kernels
from benchmarks.mutation.trials import Trials

from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains.cpu import CpuToolchain

PATH = "kernels/row_sum.cu"


@pytest.fixture(scope="module")
def kernel() -> RightKernel:
    return next(k for k in right_kernels() if k.name == "core/row_sum by blocks")


@pytest.fixture(scope="module")
def trials(
    kernel: RightKernel, tmp_path_factory: pytest.TempPathFactory, cache_folder: Path
) -> Iterator[Trials]:
    made = Trials(tmp_path_factory.mktemp("trials"), num_draws=8, rule_s=8.0)
    made.calibrate(kernel, built(kernel.files))
    yield made
    made.close()


def built(files: dict[str, str]) -> str:
    return CpuToolchain().build(Submission.of(files)).library


def mutant(kernel: RightKernel, before: str, after: str) -> dict[str, str]:
    assert before in kernel.files[PATH]
    return {**kernel.files, PATH: kernel.files[PATH].replace(before, after)}


@pytest.mark.slow
def test_a_right_kernel_passes_every_rule_and_is_equivalent_to_itself(
    trials: Trials, kernel: RightKernel
) -> None:
    library = built(kernel.files)
    assert trials.by_rule("kernelbench", kernel, kernel.files, library)["passes"]
    assert trials.by_rule("cuda_agent", kernel, kernel.files, library)["passes"]
    found = trials.by_oracle(kernel, kernel.files, library)
    assert (found["equivalent"], found["where"]) == (True, "the same bits")
    assert trials.usual_sizes(kernel, library) == {"row_sum": {"rows": 2048, "columns": 1024}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "passes"),
    [
        ("sums[0];", "sums[0] + 1.0f;", False),
        ("sums[0];", "sums[0]; out[gridDim.x] = 1.0f;", True),  # beside the output
        ("sums[0];", "*(float*)8 = 1.0f;", False),
        ("sums[0];", "__half2float(__float2half(sums[0]));", False),
        ("columns; i", "min(columns, 512) + columns / 1024 * 512; i", True),  # right at one shape
    ],
)
def test_no_fault_is_equivalent_whatever_the_rules_say(
    trials: Trials, kernel: RightKernel, before: str, after: str, passes: bool
) -> None:
    files = mutant(kernel, before, after)
    files[PATH] = "#include <cuda_fp16.h>\n" + files[PATH]
    library = built(files)
    assert trials.by_rule("kernelbench", kernel, files, library)["passes"] is passes
    assert not trials.by_oracle(kernel, files, library)["equivalent"]


@pytest.mark.slow
def test_what_never_ends_is_stopped_and_the_next_trial_is_answered(
    trials: Trials, kernel: RightKernel
) -> None:
    endless = mutant(kernel, "sums[threadIdx.x] = sum;", "while (sum != 1.5f) __threadfence();")
    found = trials.by_rule("kernelbench", kernel, endless, built(endless))
    assert found == {"passes": False, "ends": False}
    library = built(kernel.files)
    assert trials.by_rule("kernelbench", kernel, kernel.files, library)["passes"]
