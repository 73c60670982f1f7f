"""Which hidden draw finds which mistake, as the page `numerics` says."""

from __future__ import annotations

import pytest

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.judge import Judge

pytestmark = pytest.mark.slow

TASK = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        {formula}


def get_inputs():
    return [torch.randn(40, 512)]


def get_init_inputs():
    return []
"""
STANDARDISE = (
    "return (x - x.mean(-1, keepdim=True)) * "
    "torch.rsqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)"
)
SOFTMAX = "return torch.softmax(x, dim=-1)"
MODEL = """\
import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        cuda_extension.rows(out, x, x.shape[0], x.shape[1])
        return out
"""
KERNEL = """\
__global__ void rows_kernel(float* out, const float* x, int rows, int columns) {{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* from = x + (size_t)row * columns;
    float* to = out + (size_t)row * columns;
    {body}
}}

extern "C" void rows(float* out, const float* x, int rows, int columns, cudaStream_t stream) {{
    rows_kernel<<<(rows + 7) / 8, 8, 0, stream>>>(out, x, rows, columns);
}}
"""
MEAN = "float sum = 0; for (int i = 0; i < columns; ++i) sum += from[i]; const float mean = sum / columns;"
ONE_PASS = f"""{MEAN}
    float squares = 0;
    for (int i = 0; i < columns; ++i) squares += from[i] * from[i];
    const float scale = rsqrtf(squares / columns - mean * mean + 1e-5f);
    for (int i = 0; i < columns; ++i) to[i] = (from[i] - mean) * scale;"""
TWO_PASSES = f"""{MEAN}
    float squares = 0;
    for (int i = 0; i < columns; ++i) squares += (from[i] - mean) * (from[i] - mean);
    const float scale = rsqrtf(squares / columns + EPS);
    for (int i = 0; i < columns; ++i) to[i] = (from[i] - mean) * scale;"""
WITHOUT_MAXIMUM = """float sum = 0;
    for (int i = 0; i < columns; ++i) sum += expf(from[i]);
    for (int i = 0; i < columns; ++i) to[i] = expf(from[i]) / sum;"""
CASES = {
    "a variance by subtraction": (STANDARDISE, ONE_PASS, "large offset"),
    "an exponential without its maximum": (SOFTMAX, WITHOUT_MAXIMUM, "large offset"),
    "an epsilon left out": (STANDARDISE, TWO_PASSES.replace("EPS", "0.0f"), "tiny scale"),
    "two passes": (STANDARDISE, TWO_PASSES.replace("EPS", "1e-5f"), None),
}


@pytest.mark.parametrize("what", CASES)
def test_only_the_draw_that_the_page_names_finds_it(what: str, judge: Judge) -> None:
    formula, body, name = CASES[what]
    task = Task(id=f"numerics/{what}", title=what, source=TASK.format(formula=formula))
    files = {"model_new.py": MODEL, "kernels/rows.cu": KERNEL.format(body=body)}
    findings = judge.verify(task, Submission.of(files))
    failed = [draw.name for draw in findings.draws if not draw.passed]
    assert failed == ([] if name is None else [name]), findings.summary
    assert findings.outcome is (Outcome.CORRECT if name is None else Outcome.WRONG)
