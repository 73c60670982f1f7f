"""Whoever is killed while a submission is judged, the next one is judged as if nothing had been."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.faults import stages
from tests.faults.traces import require_as_before, traces

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.judge import Judge

_OURS = {"zygote", "reference", "dry", "warden"}
"""Whose end is no fault of a submission."""
_VICTIMS: dict[str, Callable[[Judge], int]] = {
    "zygote": stages.zygote,
    "reference": stages.reference,
    "dry": stages.dry,
    "warden": stages.warden,
    "candidate": stages.candidate,
}
_MOMENTS = [
    ("draws", "candidate"),
    ("draws", "warden"),
    ("draws", "reference"),
    ("draws", "zygote"),
    ("race", "candidate"),
    ("race", "warden"),
    ("race", "dry"),
    ("race", "reference"),
    ("race", "zygote"),
]


_QUICKLY = (("draws", "candidate"), ("draws", "reference"), ("draws", "zygote"), ("race", "dry"))


@pytest.mark.parametrize(
    ("stage", "who"),
    [m if m in _QUICKLY else pytest.param(*m, marks=pytest.mark.slow) for m in _MOMENTS],
)
def test_after_a_kill_the_next_submission_is_judged_and_nothing_is_left(
    stage: str,
    who: str,
    own_judge: Judge,
    scale_task: Task,
    scale_submission: Submission,
) -> None:
    before = own_judge.judge(scale_task, scale_submission)
    assert before.outcome is Outcome.CORRECT, before.summary
    standing = traces()

    result = stages.during(
        own_judge,
        scale_task,
        stage,
        lambda: stages.kill(_VICTIMS[who](own_judge)),
        races=stage == "race",
    )
    expected = Outcome.MACHINE_ERROR if who in _OURS else Outcome.RUNTIME_ERROR
    after = own_judge.judge(scale_task, scale_submission)
    assert after.outcome is Outcome.CORRECT, after.summary
    require_as_before(standing)
    assert result.outcome is expected, result.summary
