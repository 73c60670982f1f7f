"""The state of an episode as one value, and the pure steps from one state to the next.

Everything a session remembers stands here, so that going back is keeping a reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cuda_gym.core.episode import Observation, Stage, Turn
from cuda_gym.core.findings import Findings, Outcome
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import Verdict
from cuda_gym.envs.observation import findings_metrics, verdict_metrics
from cuda_gym.envs.reward import Ledger

__all__ = ["Known", "Snapshot"]

_STAGES = tuple(Stage)


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of one submission."""

    stage: Stage
    """The furthest it came."""
    outcome: Outcome | None
    """Of the latest look at it; None where it only compiled."""
    metrics: Mapping[str, float]
    """Of all looks at it, the latest first."""

    @property
    def fails(self) -> bool:
        """Whether judging it again is pointless."""
        return self.outcome not in (None, Outcome.CORRECT)


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """An episode at one moment. Plain values: it can be kept, sent to a process, come back to."""

    files: Submission
    """What lay in the workspace when the snapshot was taken."""
    start: Submission
    """What the episode began with."""
    ledger: Ledger
    first: Observation
    """What reset showed."""
    turns: tuple[Turn, ...] = ()
    known: Mapping[Submission, Known] = field(default_factory=dict)
    """What compile, verify and profile said, by files."""
    final: Verdict | None = None
    """The Verdict that was settled on."""
    void: str | None = None
    """Why the episode does not count; None where it does."""

    @property
    def ended(self) -> bool:
        """Whether the episode is over, settled or void."""
        return self.ledger.settled or self.void is not None

    def with_findings(self, submission: Submission, findings: Findings) -> Snapshot:
        """The state after a compile or verify."""
        return self._with(
            submission, _stage(findings), findings.outcome, findings_metrics(findings)
        )

    def with_verdict(self, submission: Submission, verdict: Verdict) -> Snapshot:
        """The state after a timed judgement, before it is paid for."""
        correct = verdict.outcome is Outcome.CORRECT
        stage = Stage.TIMED if correct else _stage(verdict.findings)
        state = self._with(submission, stage, verdict.outcome, verdict_metrics(verdict))
        return replace(state, ledger=self.ledger.record(submission, verdict))

    def stage_of(self, files: Submission) -> Stage:
        """How far the present files have come."""
        if self.ended:
            return Stage.SETTLED
        known = self.known.get(files)
        if known is not None:
            return known.stage
        return Stage.START if files == self.start else Stage.EDITED

    def metrics_of(self, files: Submission) -> dict[str, float]:
        """The numbers known of the present files, and of the best ones so far."""
        known = self.known.get(files)
        metrics = {} if known is None else dict(known.metrics)
        metrics["paid"] = self.ledger.paid
        best = self.ledger.best
        if best is not None and best.verdict.timing is not None:
            metrics["best_speedup"] = best.verdict.timing.speedup
        return metrics

    def _with(
        self,
        submission: Submission,
        stage: Stage,
        outcome: Outcome | None,
        metrics: Mapping[str, float],
    ) -> Snapshot:
        before = self.known.get(submission)
        if before is not None:
            stage = max(stage, before.stage, key=_STAGES.index)
            metrics = {**before.metrics, **metrics}
            outcome = before.outcome if outcome is None else outcome
        known = Known(stage=stage, outcome=outcome, metrics=metrics)
        return replace(self, known={**self.known, submission: known})


def _stage(findings: Findings) -> Stage:
    if findings.outcome is Outcome.CORRECT:
        return Stage.VERIFIED
    return Stage.EDITED if findings.build is None else Stage.COMPILED
