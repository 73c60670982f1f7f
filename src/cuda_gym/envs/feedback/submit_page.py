"""What `submit` answers: how the episode ended, and why."""

from __future__ import annotations

from cuda_gym.core import Submission, Verdict
from cuda_gym.envs.feedback.findings_page import evidence
from cuda_gym.envs.feedback.profile_page import time_details, time_table
from cuda_gym.envs.feedback.words import joined

__all__ = ["describe_settlement"]


def describe_settlement(final: Verdict | None, submission: Submission, *, paid: float) -> str:
    """How the episode ended.

    Args:
        final: The Verdict that was settled on; None where there was nothing to judge.
        submission: The files of that Verdict.
        paid: What the episode returned.
    """
    if final is None:
        said = "Nothing was handed in: model_new.py is still the skeleton."
    elif final.timing is None:
        said = joined(
            f"Final judgement: {final.outcome.value}. {final.summary}",
            *evidence(final.findings, submission),
        )
    else:
        said = joined(
            f"Final judgement, on fresh inputs, of {', '.join(submission.paths)}: "
            f"right, and {final.timing.speedup:.2f}x as fast as torch.compile.",
            time_table(final.timing),
            time_details(final.timing, final.telemetry),
        )
    return f"The episode is over. {said}\nIt returned {paid:.4g} in all."
