"""No right kernel is accused for how its CUDA C++ looks."""

from __future__ import annotations

import pytest
from tests.honest.kernels import KERNELS

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Task
from cuda_gym.judge.judge import Judge

_SLOWLY = (
    "has the largest number that there is in its padding",
    "declares its variables before they have values",
    "makes its kernels with macros that paste names",
    "remembers a fact of the device",
    "launches once a row",
    "has one block for all of it",
    "reads vectors where they are aligned",
    "looks for errors and says so",
    "waits for the device before it returns",
    "prints what never happens",
    "chooses its block by the shape",
    "passes through shared memory that it does not need",
    "writes its output twice",
)
"""Each is compiled twice, which takes a second; all of them together are more than a quick run bears."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in _SLOWLY else n for n in KERNELS],
)
def test_a_right_kernel_is_right_though_it(name: str, judge: Judge, scale_task: Task) -> None:
    findings = judge.verify(scale_task, KERNELS[name])
    assert findings.outcome is Outcome.CORRECT, findings.summary
    assert findings.memory == ()
