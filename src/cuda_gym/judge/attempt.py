"""One attempt at a task: prove a compiled submission, check its memory, and race it if it is right.

    prove   hidden draws under two sets of weights
    check   one run in a build that watches every access; it explains what has failed, too
    race    against torch.compile, where a Verdict is asked for

Covered: whatever the submission does ends in findings. Locks are always taken in this order: first the
reference, then the device.
"""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass, replace

from cuda_gym.core.findings import DrawFindings, Findings, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Profile, Timing, Work
from cuda_gym.errors import AgentError, MachineError
from cuda_gym.judge.profiling.timing import TimingPlan
from cuda_gym.judge.sandbox.checked_runs import CheckedRuns
from cuda_gym.judge.sandbox.counted_runs import CountedRuns
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.match import Match
from cuda_gym.judge.sandbox.pool import OpenReference, WorkerPool
from cuda_gym.judge.sandbox.protocol import Loaded
from cuda_gym.judge.sandbox.sanitized_runs import SanitizedRuns
from cuda_gym.judge.sandbox.workers import CandidateCrash, CandidateWorker
from cuda_gym.judge.verification.conclusions import (
    conclude_draws,
    conclude_error,
    conclude_memory,
)

__all__ = ["Attempt", "Means"]


@dataclass(frozen=True, kw_only=True)
class Means:
    """What a judge has to try submissions with."""

    pool: WorkerPool
    lock: DeviceLock
    checks: CheckedRuns | SanitizedRuns
    counts: CountedRuns
    deadlines: Deadlines
    plan: TimingPlan
    num_threads: int


class Attempt:
    """What one attempt comes to."""

    def __init__(
        self, task: Task, submission: Submission, compiled: Findings, means: Means
    ) -> None:
        self.findings = compiled
        self.loaded: Loaded | None = None
        self.timing: Timing | None = None
        self.profile: Profile | None = None
        self._task = task
        self._submission = submission
        self._compiled = compiled
        self._means = means
        self._candidate: CandidateWorker | None = None
        self._draws: tuple[DrawFindings, ...] = ()

    def run(self, seed: int | None, *, counters: bool = False) -> None:
        """Prove and check; race as well where there is the seed of a Verdict.

        Args:
            seed: Of the draws; None proves and checks only.
            counters: Whether the hardware's counters are read after the race.

        Raises:
            TaskError: the task cannot be judged.
        """
        means = self._means
        checking = means.checks.build(self._submission) if means.checks.in_every_judgement else None
        try:
            with means.pool.reference(self._task) as reference:
                work = None
                if seed is not None:
                    with means.lock.shared():
                        reference.baseline()
                        work = reference.work()
                match = self._prove(reference, seed)
                if checking is not None:
                    memory = means.checks.try_run(
                        self._task, self._submission, reference, checking.result()
                    )
                    self.findings = conclude_memory(self.findings, memory)
                if match is not None and self._may_race and seed is not None:
                    self._race(reference, match, work)
                    if counters:
                        self._count(reference)
        except (AgentError, MachineError) as error:
            self._conclude_error(error)
        finally:
            if checking is not None:
                checking.cancel()
            if self._candidate is not None:
                self._candidate.close()

    def check_memory(self) -> None:
        """Check only, and say so where it cannot be done.

        Raises:
            TaskError: the task cannot be judged.
        """
        means = self._means
        try:
            build = means.checks.build(self._submission).result()
            if build is None:
                self.findings = replace(
                    self._compiled,
                    outcome=Outcome.UNSUPPORTED_ON_DEVICE,
                    summary="This submission cannot be built for the memory check; "
                    "verify with 'values'.",
                )
                return
            with means.pool.reference(self._task) as reference:
                memory = means.checks.run(self._task, self._submission, reference, build)
        except (AgentError, MachineError) as error:
            self._conclude_error(error)
            return
        clean = "The memory check found nothing."
        findings = replace(self._compiled, outcome=Outcome.CORRECT, summary=clean)
        self.findings = conclude_memory(findings, memory)

    @property
    def _may_race(self) -> bool:
        return self.findings.outcome is Outcome.CORRECT

    def _prove(self, reference: OpenReference, seed: int | None) -> Match | None:
        """Run the hidden draws; None where the process is gone, of which the check may know more."""
        build, means = self._compiled.build, self._means
        assert build is not None
        try:
            with means.lock.shared():
                self._candidate = means.pool.fork()
                match = Match(
                    reference.worker,
                    self._candidate,
                    opened=reference.opened,
                    deadlines=means.deadlines,
                    generator=random.Random(secrets.randbits(64) if seed is None else seed),
                )
                self.loaded = match.load(
                    self._task, self._submission, build, num_threads=means.num_threads
                )
                self._draws = match.prove()
        except CandidateCrash as crash:
            self._conclude_error(crash)
            return None
        self.findings = conclude_draws(self._compiled, self._draws, self._candidate.printed)
        return match

    def _race(self, reference: OpenReference, match: Match, work: Work | None) -> None:
        loaded, build = self.loaded, self._compiled.build
        assert loaded is not None
        assert build is not None
        match.reload()  # the check has moved the reference's weights
        with self._means.lock.exclusive():
            self.timing, profile = match.race(
                self._means.pool.dry(),
                self._means.plan,
                reference.baseline,
                build,
                prepare_ns=loaded.prepare_ns,
            )
            self.profile = replace(profile, work=work, rates=reference.rates())

    def _count(self, reference: OpenReference) -> None:
        """Let the hardware count one call; the process that raced is no longer needed."""
        build = self._compiled.build
        assert build is not None
        assert self.profile is not None
        if self._candidate is not None:
            self._candidate.close()
        self.profile = self._means.counts.add_to(
            self.profile, self._task, self._submission, reference, build
        )

    def _conclude_error(self, error: AgentError | MachineError) -> None:
        """The end, with what was compiled, run and printed until then."""
        findings = conclude_error(error)
        # A warning of a line that has now failed says nothing more.
        others = [
            warning
            for warning in self._compiled.diagnostics
            if f"{warning.file}:{warning.line} " not in findings.summary
        ]
        self.findings = replace(
            findings,
            build=self._compiled.build,
            diagnostics=(*findings.diagnostics, *others),
            draws=self._draws,
            output="" if self._candidate is None else self._candidate.printed,
        )
