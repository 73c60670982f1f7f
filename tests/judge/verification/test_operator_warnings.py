from __future__ import annotations

import pytest

from cuda_gym.agents.scripted import load_solution, solved_tasks
from cuda_gym.judge.verification.operator_warnings import operator_warnings

MODEL = """\
import cuda_extension
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import gelu


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.free = nn.Sequential(nn.Identity(), nn.Dropout(0.1))
        self.mixed = nn.Sequential(nn.Identity(), nn.ReLU())
        self.weight = nn.Parameter(torch.sum(torch.ones(4)))

    def forward(self, x):
        out = torch.empty_like(x)
        cuda_extension.relu(out, x, self.linear.weight)
        return out
"""


def _told(line: str) -> list[str]:
    return [str(d) for d in operator_warnings(MODEL.replace("return out", f"return {line}"))]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("torch.relu(out)", "torch.relu"),
        ("F.silu(out)", "torch.nn.functional.silu"),
        ("gelu(out)", "torch.nn.functional.gelu"),
        ("self.linear(out)", "the module self.linear"),
        ("self.mixed(out)", "the module self.mixed"),
        ("torch.matmul(out, torch.cat([x, x]))", "torch.matmul"),
    ],
)
def test_an_operator_in_forward_is_told_before_it_runs(line: str, name: str) -> None:
    assert (
        f"model_new.py:19: warning: {name} computes and is refused where it runs; compute it in a "
        "kernel under kernels/; forward may only allocate and take views" in _told(line)
    )


@pytest.mark.parametrize(
    "line",
    ["out", "out.view(-1)", "torch.empty(3)", "torch.zeros_like(out)", "self.free(F.dropout(out))"],
)
def test_allocations_views_and_the_constructor_are_free(line: str) -> None:
    assert _told(line) == []


@pytest.mark.parametrize("task_id", solved_tasks())
def test_no_solution_is_accused(task_id: str) -> None:
    assert operator_warnings(load_solution(task_id)["model_new.py"]) == ()
