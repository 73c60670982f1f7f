"""No right submission is refused for what a race shows of it."""

from __future__ import annotations

import pytest
from tests.honest.kernels import KERNELS
from tests.honest.models import MODELS

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Task
from cuda_gym.judge.judge import Judge

_RACED = (
    "allocates its output once a shape",
    "returns one of two outputs in turn",
    "times itself",
    "counts its calls",
    "keeps a table of launches by shape",
    "finds its launcher by a name that it puts together",
    "runs on a stream of its own and joins it",
    "allocates a workspace once and lets it grow",
    "uploads a table that it computes on the host once",
    "waits for the device before it returns",
)
_QUICKLY = _RACED[:3]


@pytest.mark.parametrize(
    "name",
    [name if name in _QUICKLY else pytest.param(name, marks=pytest.mark.slow) for name in _RACED],
)
def test_a_right_submission_is_timed_though_it(name: str, judge: Judge, scale_task: Task) -> None:
    verdict = judge.judge(scale_task, (MODELS | KERNELS)[name])
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.timing is not None
