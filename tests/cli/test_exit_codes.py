from __future__ import annotations

import pytest

from cuda_gym.cli.exit_codes import (
    ExitCode,
    UsageError,
    code_of_episodes,
    code_of_error,
    code_of_verdict,
)
from cuda_gym.core.episode import Episode, Observation, Stage
from cuda_gym.core.findings import Findings, Outcome
from cuda_gym.core.verdict import Timing, Verdict
from cuda_gym.errors import (
    BadTask,
    CudaGymError,
    MissingTool,
    RosterError,
    UnknownAgent,
    WorkspaceError,
)

TIMING = Timing(
    time_us=1.0,
    compile_us=2.0,
    speedup=2.0,
    speedup_low=1.9,
    speedup_high=2.1,
    num_blocks=1,
    num_calls=1,
    timer="wall",
)


def verdict_of(outcome: Outcome) -> Verdict:
    return Verdict(
        outcome=outcome,
        task_id="core/softmax",
        submission="",
        device="cpu",
        findings=Findings(outcome=outcome, summary=""),
        fingerprint=None,
        timing=TIMING if outcome is Outcome.CORRECT else None,
    )


def episode_of(verdict: Verdict | None, *, void: str | None = None) -> Episode:
    first = Observation(text="", stage=Stage.START)
    return Episode(
        task_id="core/softmax",
        device="cpu",
        agent="scripted",
        first=first,
        turns=(),
        verdict=verdict,
        void=void,
    )


@pytest.mark.parametrize("outcome", Outcome)
def test_only_a_correct_verdict_exits_with_zero(outcome: Outcome) -> None:
    assert (code_of_verdict(verdict_of(outcome)) == 0) == (outcome is Outcome.CORRECT)


def test_a_failing_machine_is_not_taken_for_a_failing_submission() -> None:
    assert code_of_verdict(verdict_of(Outcome.MACHINE_ERROR)) is ExitCode.MACHINE
    assert code_of_verdict(verdict_of(Outcome.WRONG)) is ExitCode.NOT_CORRECT


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError(""), ExitCode.USAGE),
        (UnknownAgent(""), ExitCode.USAGE),
        (RosterError(""), ExitCode.USAGE),
        (WorkspaceError(""), ExitCode.NOT_CORRECT),
        (BadTask(""), ExitCode.TASK),
        (MissingTool(""), ExitCode.MACHINE),
    ],
)
def test_an_error_exits_by_whose_fault_it_is(error: CudaGymError, code: ExitCode) -> None:
    assert code_of_error(error) is code


def test_of_several_episodes_the_worst_decides() -> None:
    right, wrong = (episode_of(verdict_of(outcome)) for outcome in (Outcome.CORRECT, Outcome.WRONG))
    void = episode_of(None, void="no compiler")
    assert code_of_episodes((right, right)) is ExitCode.OK
    assert code_of_episodes((right, wrong)) is ExitCode.NOT_CORRECT
    assert code_of_episodes((right, episode_of(None))) is ExitCode.NOT_CORRECT
    assert code_of_episodes((void, wrong, right)) is ExitCode.MACHINE
