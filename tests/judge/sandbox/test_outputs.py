"""What forward returns is taken as it is due, or the agent is told what came instead."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from cuda_gym.errors import WrongOutput
from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.outputs import OutputSink

INPUT = torch.zeros(2, 3)
DUE = "Model returns a tensor, float32 (2, 3)"


def sink(*targets: torch.Tensor) -> OutputSink:
    return OutputSink(
        CpuWorkerDevice(),
        [targets or (torch.zeros(2, 3),)],
        inputs=(INPUT.data_ptr(), INPUT.numel() * INPUT.element_size()),
    )


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ((torch.zeros(2, 3),) * 2, "forward returned 2 values; Model returns 1 tensor(s)."),
        ((), "forward returned 0 values"),
        (None, f"the output is None; {DUE}. Is a `return` missing?"),
        (1.0, f"the output is a float; {DUE}. Return a torch.Tensor."),
        (torch.nn.Parameter(torch.zeros(2, 3)), "the output is a Parameter"),
        (torch.zeros(2, 3, dtype=torch.float64), "Allocate it with dtype=torch.float32."),
        (torch.zeros(3, 2), "Its dimensions are in another order"),
        (torch.zeros(6), "return it as .view(2, 3)."),
        (torch.zeros(2, 4), "Allocate it with torch.empty((2, 3), ...)."),
        (torch.zeros(2, 3, device="meta"), "lies on meta"),
        (INPUT, "is an input, or a view of one"),
        (INPUT.view(-1)[:6].view(2, 3), "is an input, or a view of one"),
    ],
)
def test_what_is_not_due_is_told_with_what_is(value: Any, told: str) -> None:
    with pytest.raises(WrongOutput, match=re.escape(told)):
        sink().take(0, value)


def test_one_of_several_is_named_by_its_number() -> None:
    two = sink(torch.zeros(2, 3), torch.zeros(4))
    with pytest.raises(WrongOutput, match="output 1 has the shape"):
        two.take(0, [torch.zeros(2, 3), torch.zeros(5)])
    with pytest.raises(WrongOutput, match=r"nothing \(None\); Model returns 2"):
        two.take(0, None)


def test_what_is_due_is_copied_whatever_its_strides_and_its_dtype() -> None:
    targets = torch.zeros(2, 3), torch.zeros(2, dtype=torch.bfloat16), torch.zeros(0)
    values = torch.arange(6.0).view(3, 2).t(), torch.ones(2, dtype=torch.bfloat16), torch.ones(0)
    sink(*targets).take(0, {"y": values[0], "others": list(values[1:])})
    assert all(torch.equal(target, value) for target, value in zip(targets, values, strict=True))
