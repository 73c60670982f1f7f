"""The commonest first mistakes, played by a beginner: the answer alone suffices to repair each.

Every answer has the line, the name (of the kernel, the parameter, the operator or the variable) and the
remedy in words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.envs.session import Session
from cuda_gym.judge.judge import Judge, JudgeConfig
from cuda_gym.judge.sandbox.deadlines import Deadlines

TASK = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)

    def forward(self, x, shift):
        return torch.relu(x - x.mean(1, keepdim=True)) * self.weight + shift


def get_inputs():
    return [torch.randn(33, 77), torch.randint(0, 9, (77,))]


def get_init_inputs():
    return [77]
"""
MODEL = """\
import cuda_extension
import torch
import torch.nn.functional as F
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(columns))
        self.project = [nn.Linear(columns, columns)]

    def forward(self, x, shift):
        out = torch.empty_like(x)
        cuda_extension.centre(out, x, self.weight, shift, x.shape[0], x.shape[1])
        return out
"""
KERNEL = """\
__global__ void centre_kernel(float* out, const float* x, const float* weight,
                              const long long* shift, int columns) {
    __shared__ float sums[128];
    int column = threadIdx.x;
    int i = blockIdx.x * columns + column;
    sums[column] = column < columns ? x[i] : 0.0f;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (column < k) sums[column] += sums[column + k];
        __syncthreads();
    }
    float mean = sums[0] / columns;
    if (column < columns)
        out[i] = fmaxf(x[i] - mean, 0.0f) * weight[column] + shift[column];
}

extern "C" void centre(float* out, const float* x, const float* weight, const long long* shift,
                       int rows, int columns, cudaStream_t stream) {
    centre_kernel<<<rows, 128, 0, stream>>>(out, x, weight, shift, columns);
}
"""
FILE = "kernels/centre.cu"


@pytest.fixture(scope="module")
def desk(cache_folder: Path) -> Iterator[Session]:
    """A session on a real judge, in which every test writes both files anew."""
    judge = Judge(Device("cpu"), JudgeConfig(memory_bytes=2 << 30, folder=cache_folder,
                  deadlines=Deadlines(load_s=6.0, run_s=6.0)))  # fmt: skip
    task = Task(id="test/centre", source=TASK, title="Centred rows")
    session = Session(task, judge, max_turns=1000)
    session.reset()
    yield session
    session.close()
    judge.close()


def play(
    desk: Session,
    tool: str,
    *,
    model: tuple[str, str] = ("", ""),
    kernel: tuple[str, str] = ("", ""),
) -> str:
    """What a tool answers, after one replacement in each of the right files."""
    assert model[0] in MODEL
    assert kernel[0] in KERNEL
    call = json.dumps({"name": tool, "arguments": {}})
    files = {"model_new.py": MODEL.replace(*model), FILE: KERNEL.replace(*kernel)}
    blocks = [f"````text file={path}\n{text}````" for path, text in files.items()]
    return desk.step("\n\n".join([*blocks, f"```json\n{call}\n```"])).observation.text


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def assert_told(answer: str, *parts: str) -> None:
    for part in parts:
        assert part in answer, f"{part!r} is not in\n{answer}"


def test_without_a_mistake_nothing_is_told(desk: Session) -> None:
    answer = play(desk, "verify")
    assert_told(answer, "Right on")
    assert "warning" not in answer
    assert "repair" not in answer


# Missing stream

LAUNCH = "centre_kernel<<<rows, 128, 0, stream>>>"
LAUNCHED = f"{FILE}:{line_of(KERNEL, LAUNCH)}"


@pytest.mark.parametrize("tool", ["compile", "verify"])
def test_a_missing_stream_is_told_with_the_launch_that_was_meant(desk: Session, tool: str) -> None:
    answer = play(desk, tool, kernel=(", 0, stream>>>", ">>>"))
    fact = "kernel centre_kernel is launched on the default stream"
    assert_told(answer, LAUNCHED, fact, f"write {LAUNCH}")


def test_a_launcher_without_a_stream_is_told_to_take_one(desk: Session) -> None:
    source = KERNEL.replace(", 0, stream>>>", ">>>").replace(", cudaStream_t stream", "")
    answer = play(desk, "compile", kernel=(KERNEL, source))
    remedy = "give centre() a last parameter `cudaStream_t stream`"
    assert_told(answer, LAUNCHED, remedy, f"write {LAUNCH}")


# Wrong dtype

CALL = "cuda_extension.centre(out, x, self.weight, shift, x.shape[0], x.shape[1])"
CALLED = f"model_new.py:{line_of(MODEL, CALL)} in forward"


@pytest.mark.parametrize(
    ("kernel", "model", "facts"),
    [
        (("const long long* shift", "const int* shift"), ("", ""),
         ["argument 4 (const int* shift) of launcher centre", "is a torch.int64 tensor, wanted torch.int32",
          "take `const long long* shift` in its signature"]),
        (("", ""), ("torch.empty_like(x)", "torch.empty_like(x, dtype=torch.float64)"),
         ["argument 1 (float* out) of launcher centre", "is a torch.float64 tensor, wanted torch.float32",
          "allocate it as float32"]),
        (("", ""), ("self.weight, shift, x", "self.weight.view(torch.float16), shift, x"),
         ["argument 3 (const float* weight) of launcher centre", "is a torch.float16 tensor",
          "take `const __half* weight` in its signature and convert each element with __half2float"]),
        (("", ""), ("x.shape[0], x.shape[1])", "x.numel() / x.shape[1], x.shape[1])"),
         ["argument 5 (int rows) of launcher centre", "is the float 33.0, wanted int", "convert it with int()"]),
    ],
)  # fmt: skip
def test_a_wrong_dtype_is_told_with_the_type_to_take(
    desk: Session, kernel: tuple[str, str], model: tuple[str, str], facts: list[str]
) -> None:
    assert_told(play(desk, "verify", model=model, kernel=kernel), CALLED, *facts)


def test_an_output_of_a_wrong_dtype_is_told_with_the_one_to_allocate(desk: Session) -> None:
    answer = play(desk, "verify", model=("return out", "return out.view(torch.int32)"))
    place = f"model_new.py:{line_of(MODEL, 'return out')}"
    assert_told(answer, place, "the output is int32", "float32 (33, 77)", "dtype=torch.float32")


# No bounds check


def test_a_missing_bounds_check_is_told_with_the_index_and_the_guard(desk: Session) -> None:
    answer = play(desk, "verify", kernel=("    if (column < columns)\n", "\n"))
    place = f"{FILE}:{line_of(KERNEL, 'out[i] =')}"
    assert_told(answer, "out of bounds in kernel centre_kernel", place, "`weight`")
    assert_told(answer, "index 77, and 76 is the last", "guard the access with `if (i < n)`")


# Missing barrier


def test_a_missing_barrier_is_told_with_both_lines_and_where_it_belongs(desk: Session) -> None:
    answer = play(desk, "verify", kernel=("    __syncthreads();\n    for", "    for"))
    written, read = line_of(KERNEL, "sums[column] = "), line_of(KERNEL, "sums[column] += ") - 1
    assert_told(
        answer, "data race in kernel centre_kernel", "`sums`", "no __syncthreads is between"
    )
    assert_told(answer, f"{FILE}:{written}", f"{FILE}:{read}")
    assert_told(answer, f"put `__syncthreads();` between line {written} and line {read}")


def test_a_barrier_that_is_missing_in_a_loop_explains_wrong_values(desk: Session) -> None:
    answer = play(desk, "verify", kernel=("        __syncthreads();\n", ""))
    line = line_of(KERNEL, "sums[column] += ")
    assert_told(answer, "draw failed", "data race in kernel centre_kernel", f"{FILE}:{line}")
    assert_told(answer, f"put `__syncthreads();` behind line {line}", "in a loop, inside of it")


# torch in forward


@pytest.mark.parametrize(
    ("expression", "operator"),
    [
        ("torch.relu(out)", "torch.relu"),
        ("F.relu(out)", "torch.relu"),
        ("out.relu()", "torch.relu"),
        ("out + x", "torch.add"),
        ("out @ x.t()", "torch.matmul"),
        ("self.project[0](out)", "torch.linear"),
        ("x.t().contiguous()", "torch.clone"),
    ],
)
def test_an_operator_of_torch_is_refused_by_name(
    desk: Session, expression: str, operator: str
) -> None:
    answer = play(desk, "verify", model=("return out", f"return {expression}"))
    line = line_of(MODEL, "return out")
    assert_told(answer, f"model_new.py:{line} in forward: return {expression}")
    assert_told(answer, f"forward called {operator}; ", "Allowed are allocation", "views")
    remedy = (
        "let it write the new layout"
        if "contiguous" in expression
        else "in a kernel under kernels/"
    )
    assert_told(answer, remedy)


# And what comes right after these


@pytest.mark.parametrize(
    ("model", "facts"),
    [
        ((f"        {CALL}\n", ""),
         ["0,164 of the 10,164 bytes of output 0 were written by no kernel", "launch a kernel that writes"]),
        ((CALL, "cuda_extension.centre(out, x, self.weight, shift, x.shape[0])"),
         ["launcher centre takes 6 arguments, got 5", "centre(float* out, const float* x, ", "model_new.py:15"]),
        (("self.weight, shift, x", "shift, self.weight, x"),
         ["argument 3 (const float* weight)", "is exchanged with argument 4 (const long long* shift)"]),
        ((CALL, CALL.replace("centre", "center")), ["has no 'center'", "Did you mean 'centre'", "model_new.py:15"]),
        (("x, self.weight, shift", "x.t(), self.weight, shift"),
         ["argument 2 (const float* x)", "not contiguous", "pass the tensor that it is a view of", "model_new.py:15"]),
        (("        super().__init__()\n", ""), ["model_new.py:9 in __init__", "call super().__init__() first"]),
        ((MODEL, MODEL.replace("self.weight", "self.scale")),
         ["Missing: weight", "scale (model_new.py:10)", "Rename scale to weight"]),
    ],
)  # fmt: skip
def test_a_slip_in_the_model_is_told_with_its_line_and_its_remedy(
    desk: Session, model: tuple[str, str], facts: list[str]
) -> None:
    assert_told(play(desk, "verify", model=model), *facts)


@pytest.mark.parametrize(
    ("kernel", "facts"),
    [
        (("<<<rows, 128,", "<<<rows, 2048,"),
         [f"launcher centre ({FILE}:17)", "kernel centre_kernel", "1 to 1024 threads", "a smaller block"]),
        (("<<<rows, 128, 0,", "<<<rows, 128, 100000,"),
         [f"launcher centre ({FILE}:17)", "100000 bytes of dynamic shared memory", "cudaFuncSetAttribute"]),
        (("    float mean", '    printf("%f\\n", sums[0]);\n    float mean'),
         [f"{FILE}:12", "printf in a kernel is slow", "take it out before profile"]),
    ],
)  # fmt: skip
def test_a_slip_in_the_kernel_is_told_with_its_line_and_its_remedy(
    desk: Session, kernel: tuple[str, str], facts: list[str]
) -> None:
    assert_told(play(desk, "verify", kernel=kernel), *facts)


def test_too_much_shared_memory_is_told_before_anything_runs(desk: Session) -> None:
    answer = play(desk, "compile", kernel=("sums[128]", "sums[20000]"))
    assert_told(answer, f"{FILE}:1", "centre_kernel has 80,000 bytes", "49,152 are the most")
