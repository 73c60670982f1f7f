"""What a Verdict is worth, and the book that pays it out over an episode.

Covered: the three potentials, the pooling of repeated measurements, payment turn by turn, the
settlement. Not covered: which Verdicts are made, and when; the session decides that.

A reward is a difference of potentials: each turn pays phi(best so far) - phi(paid so far), and the
last turn settles on one fresh Verdict. So an episode returns exactly phi(final Verdict) - phi(none),
and no order of tool calls can return more. gamma is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import Verdict

__all__ = [
    "REWARDS",
    "Ledger",
    "Measurement",
    "Reward",
    "log_speedup",
    "milestone",
    "pooled",
    "speedup",
]

MARGIN = 0.05
"""How much less time than a baseline counts as faster in `milestone`, as in CUDA Agent."""

_GRID = 2.0**24
"""Potentials are multiples of 1 / _GRID (6e-8): sums and differences of them below 2**28 are exact
in floating point, whatever their order, and so is the promise about the return."""


def speedup(verdict: Verdict | None) -> float:
    """The verified speed-up over torch.compile; 0.0 where there is no right kernel.

    >>> from cuda_gym.core.findings import Findings
    >>> from cuda_gym.core.verdict import Timing
    >>> findings = Findings(outcome=Outcome.CORRECT, summary="")
    >>> timing = Timing(time_us=5.0, compile_us=20.0, speedup=4.0, speedup_low=3.9,
    ...                 speedup_high=4.1, num_blocks=8, num_calls=80, timer="wall")
    >>> right = Verdict(outcome=Outcome.CORRECT, task_id="t", submission="s", device="cpu",
    ...                 findings=findings, fingerprint=None, timing=timing)
    >>> speedup(right), speedup(None)
    (4.0, 0.0)
    """
    timing = None if verdict is None else verdict.timing
    return 0.0 if timing is None else _on_grid(timing.speedup)


def log_speedup(verdict: Verdict | None) -> float:
    """Doublings over torch.compile, at least -1.0; and -2.0 where there is no right kernel.

    Logarithmic, so that 1x to 2x counts as much as 2x to 4x and one lucky task cannot carry a
    batch. Bounded below, so that the slowest right kernel beats every wrong one and doing nothing.

    >>> log_speedup(None)
    -2.0
    """
    timing = None if verdict is None else verdict.timing
    return -2.0 if timing is None else _on_grid(max(-1.0, math.log2(timing.speedup)))


def milestone(verdict: Verdict | None) -> float:
    """CUDA Agent's steps: -1 not right, 1 right, 2 faster than eager, 3 than torch.compile too.

    Faster means at least 5 % less time (arXiv 2602.24286, equation 1). Where eager was not timed,
    torch.compile stands for it. Doing nothing is worth as much as a wrong kernel, -1, so the return
    of an episode is the paper's reward plus one.

    >>> milestone(None)
    -1.0
    """
    timing = None if verdict is None else verdict.timing
    if timing is None:
        return -1.0
    beats_compile = _is_faster(timing.speedup)
    beats_eager = (
        beats_compile if timing.eager_us is None else _is_faster(timing.eager_us / timing.time_us)
    )
    if not beats_eager:
        return 1.0
    return 3.0 if beats_compile else 2.0


@dataclass(frozen=True, kw_only=True)
class Reward:
    """One way to pay."""

    name: str
    """As in the environment's `reward` argument."""
    phi: Callable[[Verdict | None], float]
    """The potential; of None: nothing was handed in, or it was refused."""
    pays_along: bool = True
    """Whether turns before the last one pay too."""


REWARDS: Mapping[str, Reward] = MappingProxyType(
    {
        reward.name: reward
        for reward in (
            Reward(name="speedup", phi=speedup),
            Reward(name="log_speedup", phi=log_speedup),
            Reward(name="milestone", phi=milestone, pays_along=False),
        )
    }
)


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One Verdict, with the files that earned it."""

    submission: Submission
    verdict: Verdict


def pooled(verdicts: tuple[Verdict, ...]) -> Verdict:
    """The one Verdict that stands for all Verdicts of equal submissions.

    It is the middle one by speed-up, the lower of two middles: another measurement is as likely to
    lower it as to raise it, so that measuring again cannot fish for noise. A submission that once
    failed counts as failed, since what is wrong on one hidden draw is wrong.
    """
    for verdict in verdicts:
        if verdict.timing is None:
            return verdict
    ranked = sorted(verdicts, key=speedup)
    return ranked[(len(ranked) - 1) // 2]


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """The book of one episode: what was measured, and what was paid for it. Never changed, replaced.

    >>> ledger = Ledger(reward=REWARDS["speedup"])
    >>> ledger.pay()[1], ledger.settle(None)[1]
    (0.0, 0.0)
    """

    reward: Reward
    measured: tuple[Measurement, ...] = ()
    """In the order of the episode."""
    paid: float = 0.0
    """Sum of the rewards so far."""
    settled: bool = False
    """Whether the last payment was made."""

    def record(self, submission: Submission, verdict: Verdict) -> Ledger:
        """The book with one more measurement; paying is another matter."""
        return replace(
            self, measured=(*self.measured, Measurement(submission=submission, verdict=verdict))
        )

    def verdict_of(self, submission: Submission) -> Verdict | None:
        """The pooled Verdict of a submission; None where it was never judged."""
        verdicts = tuple(m.verdict for m in self.measured if m.submission == submission)
        return pooled(verdicts) if verdicts else None

    @property
    def best(self) -> Measurement | None:
        """The fastest right submission by pooled Verdict; the earliest of equals; None without one."""
        groups: dict[Submission, list[Verdict]] = {}
        for measurement in self.measured:
            groups.setdefault(measurement.submission, []).append(measurement.verdict)
        standing = [
            Measurement(submission=submission, verdict=pooled(tuple(verdicts)))
            for submission, verdicts in groups.items()
        ]
        right = [m for m in standing if m.verdict.outcome is Outcome.CORRECT]
        return max(right, key=lambda m: speedup(m.verdict), default=None)

    def pay(self) -> tuple[Ledger, float]:
        """Pay what the best submission so far is worth beyond what was paid."""
        if self.settled or not self.reward.pays_along:
            return self, 0.0
        best = self.best
        return self._pay_up_to(None if best is None else best.verdict)

    def settle(self, final: Verdict | None) -> tuple[Ledger, float]:
        """Pay the difference that makes the return phi(final) - phi(none); a refusal counts as none."""
        if self.settled:
            return self, 0.0
        if final is not None and final.outcome is Outcome.REFUSED:
            final = None
        ledger, amount = self._pay_up_to(final)
        return replace(ledger, settled=True), amount

    def _pay_up_to(self, verdict: Verdict | None) -> tuple[Ledger, float]:
        owed = self.reward.phi(verdict) - self.reward.phi(None)
        return replace(self, paid=owed), owed - self.paid


def _is_faster(ratio: float) -> bool:
    """Whether baseline time over own time means more than `MARGIN` less time."""
    return 1.0 - 1.0 / ratio > MARGIN


def _on_grid(value: float) -> float:
    return round(value * _GRID) / _GRID
