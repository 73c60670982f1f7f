"""What `submit` answers: how the episode ended, on which files, what it paid, and why."""

from __future__ import annotations

from collections.abc import Sequence

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import Timing, Verdict
from cuda_gym.envs.feedback.findings_page import evidence
from cuda_gym.envs.feedback.profile_page import describe_conditions, describe_standing, time_table
from cuda_gym.envs.feedback.words import joined
from cuda_gym.envs.reward import Ledger, pooled

__all__ = ["describe_settlement"]

_PAYS = {
    "speedup": "the speed-up over torch.compile in this judgement, 0 without a right kernel",
    "log_speedup": "2 and the doublings over torch.compile in this judgement, at least 1 for a right "
    "kernel",
    "milestone": "2 for a right kernel, 3 for one faster than eager, 4 than torch.compile too",
}


def describe_settlement(
    final: Verdict | None,
    submission: Submission,
    *,
    paid: float,
    ledger: Ledger | None = None,
    present: Submission | None = None,
) -> str:
    """How the episode ended.

    Args:
        final: The Verdict that was settled on; None where there was nothing to judge.
        submission: The files of that Verdict.
        paid: What the episode returned.
        ledger: The book of the episode, where what was measured before is to be told.
        present: The files at the end.
    """
    measured = () if ledger is None else ledger.measured
    earlier = [m.verdict for m in measured if m.submission == submission and m.verdict is not final]
    pays = "" if ledger is None else _PAYS.get(ledger.reward.name, "")
    if final is None:
        return joined(
            "The episode is over: nothing was handed in, for model_new.py is still the skeleton.",
            f"It returned {paid:.4g} in all.",
        )
    return joined(
        f"The episode is over: {_conclusion(final)}",
        _files(submission, measured_files={m.submission for m in measured}, present=present),
        "" if final.timing is None else time_table(final.timing),
        _compared(final, earlier),
        *([] if final.timing is not None else evidence(final.findings, submission)),
        "" if final.timing is None else describe_conditions(final.timing, final.telemetry),
        f"It returned {paid:.4g} in all{f': {pays}' if pays else ''}.",
    )


def _conclusion(final: Verdict) -> str:
    if final.timing is not None:
        return f"right. {describe_standing(final.timing)}"
    return f"{final.outcome.value.replace('_', ' ')}. {final.summary}"


def _files(
    submission: Submission, *, measured_files: set[Submission], present: Submission | None
) -> str:
    """Which files were judged, and why these."""
    said = f"Final judgement, on new hidden inputs, of {', '.join(submission.paths)}"
    if present is None or present == submission:
        return f"{said}."
    others = len(measured_files) - 1
    if others < 1:
        return f"{said}: as they were when they were last judged, not as they are now."
    return f"{said}: the best of {others + 1} versions that were timed, not the latest."


def _compared(final: Verdict, earlier: Sequence[Verdict]) -> str:
    """What the same files had measured before, and what to think of the difference."""
    if not earlier:
        return ""
    before = pooled(tuple(earlier))
    if before.timing is None:
        return (
            ""
            if final.timing is None
            else f"Before, these files ended as {before.outcome.value}; this judgement counts."
        )
    if final.timing is None:
        return (
            f"Before, these files were right, at {before.timing.speedup:.2f}x. "
            f"{_WHY_NOT_NOW.get(final.outcome, _OTHERWISE)}"
        )
    return (
        f"Before, these files measured {before.timing.speedup:.2f}x; this judgement alone counts. "
        f"The difference is {_difference(before.timing, final.timing)}."
    )


_WHY_NOT_NOW = {
    Outcome.WRONG: "The hidden inputs are new each time: what is right for some only is wrong.",
    Outcome.REFUSED: "What is refused once pays nothing.",
    Outcome.TIMEOUT: "What ends at some times only is not right.",
    Outcome.RUNTIME_ERROR: "What crashes at some times is not right.",
}
_OTHERWISE = "This judgement alone counts."


def _difference(before: Timing, final: Timing) -> str:
    overlap = final.speedup_low <= before.speedup_high and before.speedup_low <= final.speedup_high
    change = f"{final.speedup / before.speedup - 1:+.0%}"
    if overlap:
        return f"{change}, within the noise of both"
    return f"{change}, more than the noise of either: the machine ran otherwise at the two times"
