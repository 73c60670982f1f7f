from __future__ import annotations

import pytest

from cuda_gym.core.findings import Findings, MemoryFinding, MemorySide, Outcome
from cuda_gym.judge.verification.conclusions import conclude_memory

RIGHT = Findings(outcome=Outcome.CORRECT, summary="Right on 8 hidden draws.")


def found(kind: str) -> MemoryFinding:
    side = MemorySide(does="writes", file="kernels/k.cu", line=7)
    return MemoryFinding(kind=kind, text="4 bytes at `x` + 0", kernel="k", sides=(side,))


def test_clean_memory_leaves_a_right_submission_right() -> None:
    findings = conclude_memory(RIGHT, ())
    assert (findings.outcome, findings.summary) == (Outcome.CORRECT, RIGHT.summary)
    assert findings.memory == ()


def test_a_check_that_did_not_end_accuses_nobody_and_is_told() -> None:
    findings = conclude_memory(RIGHT, None)
    assert findings.outcome is Outcome.CORRECT
    assert findings.memory is None
    assert "could not be run to its end" in findings.summary


@pytest.mark.parametrize(
    ("kinds", "outcome"),
    [
        (("data race",), Outcome.WRONG),
        (("host access", "data race"), Outcome.WRONG),
        (("host access", "host access"), Outcome.REFUSED),
        (("unwritten output",), Outcome.REFUSED),
    ],
)
def test_a_bug_is_wrong_and_work_of_the_host_is_refused(
    kinds: tuple[str, ...], outcome: Outcome
) -> None:
    findings = conclude_memory(RIGHT, tuple(map(found, kinds)))
    assert findings.outcome is outcome
    assert f"{kinds[0]} in kernel k at kernels/k.cu:7" in findings.summary


def test_what_failed_keeps_its_outcome_and_is_explained() -> None:
    crash = Findings(outcome=Outcome.RUNTIME_ERROR, summary="The submission crashed.")
    findings = conclude_memory(crash, (found("out of bounds"),))
    assert findings.outcome is Outcome.RUNTIME_ERROR
    assert findings.summary.startswith(
        "The submission crashed. The memory check found: out of bounds"
    )
    assert "guard the access with `if (i < n)`" in findings.summary
    assert conclude_memory(crash, None).summary == crash.summary


def test_of_outputs_that_were_wrong_anyway_no_unset_variable_is_told() -> None:
    wrong = Findings(outcome=Outcome.WRONG, summary="Wrong on the 'ordinary' draw.")
    findings = conclude_memory(wrong, (found("unset variable"),))
    assert (findings.summary, findings.memory) == (wrong.summary, ())
    findings = conclude_memory(RIGHT, (found("unset variable"),))
    assert findings.outcome is Outcome.WRONG
    assert "-INFINITY for a maximum" in findings.summary


def test_a_race_is_told_before_the_reads_that_it_leaves_uninitialised() -> None:
    findings = conclude_memory(RIGHT, (found("uninitialised read"), found("data race")))
    assert [finding.kind for finding in findings.memory or ()] == [
        "data race",
        "uninitialised read",
    ]
    assert findings.summary.startswith("The memory check found: data race")
