"""No right submission is accused for the habits of whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from tests.honest.cuda_habits import CUDA_HABITS
from tests.honest.mixed_tasks import MIXED_CASES
from tests.honest.python_habits import PYTHON_HABITS

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Task
from cuda_gym.judge.judge import Judge

_HABITS = CUDA_HABITS | PYTHON_HABITS
_QUICKLY = (
    "names its types, and takes what makes a launcher from a header",
    "leaves out by conditions what is no code, and a launcher",
    "mentions every feature there is in comments and strings",
    "begins with a byte order mark, and ends its lines as Windows does",
    "keeps more than tensors in its state",
    "takes one element, and none",
)
"""Those that were accused once; all of them together are more than a quick run bears."""
_RACED = (
    "copies weights to constant memory at each call",
    "draws rows as tickets, and puts the counter back itself",
    "stages its weights through pinned memory",
    "passes through modules that do nothing",
)


def _marked(names: Iterable[str]) -> list[Any]:
    return [n if n in _QUICKLY else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.mark.parametrize("name", _marked(_HABITS))
def test_a_right_submission_is_right_though_it(name: str, judge: Judge, scale_task: Task) -> None:
    findings = judge.verify(scale_task, _HABITS[name])
    assert findings.outcome is Outcome.CORRECT, findings.summary
    assert findings.memory == ()


@pytest.mark.parametrize("name", _marked(MIXED_CASES))
def test_a_right_answer_of_many_types_is_right_where_it(name: str, judge: Judge) -> None:
    findings = judge.verify(MIXED_CASES[name].task, MIXED_CASES[name].submission)
    assert findings.outcome is Outcome.CORRECT, findings.summary
    assert findings.memory == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", _RACED)
def test_a_right_submission_is_timed_though_it(name: str, judge: Judge, scale_task: Task) -> None:
    verdict = judge.judge(scale_task, _HABITS[name])
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.timing is not None
