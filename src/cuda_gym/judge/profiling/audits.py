"""Blocks that our own clock times: sealed, queued behind a gate, and over when a digest of their outputs is told.

Nobody can begin one early or end it late; what it shows bounds what any claim is paid. Not covered: how a block is
sealed (`sandbox/cuda_sealing.py`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from cuda_gym.errors import Refused
from cuda_gym.judge.profiling.sides import CandidateSide, ReferenceSide
from cuda_gym.judge.profiling.timing_plan import TimingPlan

__all__ = [
    "Audit",
    "Probed",
    "audited_calls",
    "believed_us",
    "clock_ratio_of",
    "further_audits",
    "take_audit",
]


@dataclass(frozen=True, kw_only=True)
class Audit:
    """One block that our own clock has timed, and that nobody could begin early or end late."""

    call_us: float
    """Of each call: of what the block took, without what the same block takes where nothing is called."""
    num_calls: int
    was_queued: bool
    """Whether the host had no part in it."""


@dataclass(frozen=True, kw_only=True)
class Probed:
    """What a few calls of each side have told."""

    candidate_us: float
    """Claimed."""
    host_us: float
    """Claimed, of a call."""
    waits: bool
    """Whether the submission waits for the device within a call."""
    content_bytes: int
    """Inputs and outputs of one."""


def audited_calls(compile_us: float, plan: TimingPlan) -> int:
    """How many calls our own clock times at once, where memory and the host allow so many.

    Args:
        compile_us: The best time of torch.compile: the number is one of the task, not of a submission.
        plan: How long the block should be.

    >>> audited_calls(200.0, TimingPlan())
    5
    """
    return max(1, min(plan.max_audit_calls, round(plan.audit_us / max(compile_us, 1.0))))


def take_audit(
    reference: ReferenceSide,
    candidate: CandidateSide,
    plan: TimingPlan,
    probed: Probed,
    most: int,
) -> Audit:
    """A block by our own clock, of as many calls as the device takes in ahead.

    Fewer are tried only where what our clock may be off stays small beside a call: nothing else is gained by
    a block that is not queued, or not said to be.

    Args:
        reference: Makes its contents, and measures it without its calls.
        candidate: The submission.
        plan: How long it may be.
        probed: What is known of the calls.
        most: Of them, see `audited_calls`.

    Raises:
        WrongOutput: an output of it is wrong.
        Refused: one changed when it was said to be over.
    """
    count = max(1, min(most, plan.most_contents(probed.content_bytes)))
    least = _MOST_SLACK * plan.audit_slack_us / max(probed.candidate_us, plan.least_us)
    while True:
        audit = _audit_once(reference, candidate, count, probed)
        fewer = count // 4
        if audit.was_queued or probed.waits or fewer < max(1.0, least):
            return audit
        count = fewer


def further_audits(
    reference: ReferenceSide,
    candidate: CandidateSide,
    plan: TimingPlan,
    probed: Probed,
    audits: Sequence[Audit],
    claimed_us: float,
) -> tuple[Audit, ...]:
    """These blocks, and more of them while they show more than is claimed.

    The contents of a race are plain again in the end.

    Args:
        reference: Of the race.
        candidate: Of the race.
        plan: How many there may be.
        probed: What is known of the calls.
        audits: Those that were taken.
        claimed_us: Of a call, in the race.

    Raises:
        WrongOutput: an output is wrong.
        Refused: one changed when it was said to be over.
    """
    all_audits, num_audits = list(audits), len(audits)
    while (
        0 < len(all_audits) < _most_audits(all_audits, plan, probed)
        and believed_us(all_audits, plan) > claimed_us
    ):
        time.sleep(_PAUSE_S * (len(all_audits) - num_audits))
        count = all_audits[0].num_calls
        all_audits.append(take_audit(reference, candidate, plan, probed, count))
    if len(all_audits) > len(audits):
        reference.new_contents(min(_PLAIN_CONTENTS, plan.most_contents(probed.content_bytes)))
    return tuple(all_audits)


def _most_audits(audits: Sequence[Audit], plan: TimingPlan, probed: Probed) -> int:
    """Fewer where the host had a part: that may have been a hiccup of it, or is what such calls take."""
    if all(audit.was_queued for audit in audits):
        return plan.most_audits
    return min(_MOST_WAITING if probed.waits else _MOST_UNQUEUED, plan.most_audits)


def _audit_once(
    reference: ReferenceSide, candidate: CandidateSide, count: int, probed: Probed
) -> Audit:
    queue_s = min(_QUEUE_S + _QUEUEING * count * probed.host_us * 1e-6, _MOST_QUEUE_S)
    queue_s = 0.0 if probed.waits else queue_s
    reference.new_contents(count, sealed=True)
    theirs = candidate.run_sealed(count, queue_s=queue_s)
    reference.run(count)
    reference.check(count)
    empty_us = reference.empty_us(count, queued=not probed.waits)
    return Audit(
        call_us=max(0.0, theirs.wall_us - empty_us) / count,
        num_calls=count,
        was_queued=theirs.was_queued and not probed.waits,
    )


def believed_us(audits: Sequence[Audit], plan: TimingPlan) -> float:
    """No call is believed to be shorter: a tenth less than what our own clock saw. 0 where it saw none.

    That clock sees the gap before a kernel, which events around it do not: 0.3 to 1.1 us (sealed_blocks.md).
    """
    seen = (
        audit.call_us - plan.audit_slack_us / audit.num_calls - plan.hidden_us for audit in audits
    )
    return max(0.0, min(seen, default=0.0)) / plan.credited


def clock_ratio_of(audits: Sequence[Audit], plan: TimingPlan, time_us: float) -> float | None:
    """Our clock over the claims; None where it has timed nothing.

    The least of all audits counts: whatever disturbs us adds to our clock only. Nobody is refused for
    time in which the host had a part.

    Raises:
        Refused: our clock saw much more than was claimed.
    """
    if not audits:
        return None
    least_us = min(audit.call_us for audit in audits)
    if (
        all(audit.was_queued for audit in audits)
        and believed_us(audits, plan) * plan.credited > plan.refused * time_us
    ):
        raise Refused(
            f"The submission's clock shows {time_us:.1f} us a call; in {len(audits)} blocks the judge's "
            f"own clock showed at least {least_us:.1f} us. All work must be done when forward returns."
        )
    return least_us / time_us


_MOST_SLACK = 20.0
_PAUSE_S = 0.01
"""Longer each time: who disturbs a block for a moment is gone at once, and a neighbour's turn takes a while."""
_MOST_UNQUEUED, _MOST_WAITING = 4, 2
_PLAIN_CONTENTS = 4
"""As many as the calls that follow a race."""
_QUEUE_S, _MOST_QUEUE_S = 0.03, 0.5
_QUEUEING = 4.0
"""How long a block may take to be queued, as a multiple of what its calls keep the host."""
