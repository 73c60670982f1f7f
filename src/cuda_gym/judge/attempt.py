"""One attempt at a task: prove a compiled submission, check its memory, and race it if it is right.

    prove   hidden draws under two sets of weights
    check   one run in a build that watches every access; it explains what has failed, too
    race    against torch.compile, where a Verdict is asked for

Covered: whatever the submission does ends in findings. Locks are always taken in this order: first the
reference, then the device.
"""

from __future__ import annotations

import contextlib
import random
import secrets
from dataclasses import replace

from cuda_gym.core.findings import DrawFindings, Findings, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Profile, Telemetry, Timing, Work
from cuda_gym.errors import (
    AgentError,
    CandidateTimeout,
    MachineError,
    OutOfDeviceMemory,
    WorkerLost,
)
from cuda_gym.judge.head_start import HeadStart
from cuda_gym.judge.means import Means
from cuda_gym.judge.profiling.audits import audited_calls
from cuda_gym.judge.races import race_alone
from cuda_gym.judge.sandbox.candidate_faults import CandidateCrash, DeviceStopped, NoMemoryLeft
from cuda_gym.judge.sandbox.conditions import isolation_of
from cuda_gym.judge.sandbox.device_memory import require_memory, require_not_others
from cuda_gym.judge.sandbox.loading import load_message
from cuda_gym.judge.sandbox.match import Match
from cuda_gym.judge.sandbox.messages import Loaded, Tree
from cuda_gym.judge.sandbox.open_reference import OpenReference
from cuda_gym.judge.sandbox.workers import CandidateWorker
from cuda_gym.judge.verification.conclusions import (
    conclude_draws,
    conclude_error,
    conclude_memory,
)

__all__ = ["Attempt"]

_NOTHING_YET = Findings(outcome=None, summary="Nothing was compiled yet.")


class Attempt:
    """What one attempt comes to."""

    def __init__(
        self, task: Task, submission: Submission, means: Means, *, seed: int | None = None
    ) -> None:
        self.findings = _NOTHING_YET
        self.isolation: str | None = None
        """What stands between the submission and the machine; None where no process was there to run it."""
        self._loaded: Loaded | None = None
        self.timing: Timing | None = None
        self.profile: Profile | None = None
        self.telemetry: Telemetry | None = None
        self._task = task
        self._submission = submission
        self._compiled = _NOTHING_YET
        self._means = means
        self._seed = secrets.randbits(48) if seed is None else seed
        self._head_start: HeadStart | None = None
        self._candidate: CandidateWorker | None = None
        self._load_error: AgentError | MachineError | OSError | None = None
        self._draws: tuple[DrawFindings, ...] = ()

    def begin(self) -> None:
        """Do what can be done while the submission is compiled; returns at once."""
        self._head_start = HeadStart(self._task, self._means, self._seed)

    def abandon(self, findings: Findings) -> None:
        """It was not compiled, and that is all there is to find."""
        self.findings = findings
        if self._head_start is not None:
            self._head_start.abandon()

    def run(self, compiled: Findings, *, races: bool = False, counters: bool = False) -> None:
        """Prove and check a compiled submission.

        Args:
            compiled: It, and what the compiler said.
            races: Whether it is raced, too, if it is right.
            counters: Whether the hardware's counters are read after the race.

        Raises:
            TaskError: the task cannot be judged.
        """
        self.findings = self._compiled = compiled
        self._load_ahead()
        try:
            with self._means.pool.reference(self._task) as reference:
                try:
                    self._run(reference, races=races, counters=counters)
                except OutOfDeviceMemory as error:
                    require_memory(reference, self._candidate, lacking=error)
                except NoMemoryLeft:
                    require_not_others(reference, self._candidate)
                    raise
                except (CandidateCrash, CandidateTimeout, DeviceStopped) as error:
                    self._conclude_error(error)
                    # A device that does not work any more is the next one's trouble, not this one's.
                    with contextlib.suppress(WorkerLost):
                        reference.probe()
                finally:
                    if self.timing is None or counters:  # a race has let it rest already
                        self._rest(reference)
        except (AgentError, MachineError, OSError) as error:
            self._conclude_error(error)
        finally:
            self._dismiss()

    def _run(self, reference: OpenReference, *, races: bool, counters: bool) -> None:
        means, work = self._means, None
        checking = means.checks.build(self._submission) if means.checks.in_every_judgement else None
        try:
            if races:
                with means.lock.shared():
                    baseline = reference.baseline()
                    if means.plan.num_audits:
                        reference.rehearse(
                            audited_calls(baseline.compile_us, means.plan),
                            contents_bytes=means.plan.max_content_bytes,
                        )
                    work = reference.work()
            match = self._prove(reference)
            if checking is not None:
                memory = means.checks.try_run(
                    self._task, self._submission, reference, checking.result()
                )
                self.findings = conclude_memory(self.findings, memory)
            if match is None or not races or not self._may_race:
                return
            if checking is not None:
                match.reload()  # the check has moved the reference's weights
            self._race(reference, match, work)
            if counters:
                self._count(reference)
        finally:
            if checking is not None:
                checking.cancel()

    def check_memory(self, compiled: Findings) -> None:
        """Check only, and say so where it cannot be done.

        Args:
            compiled: The submission, and what the compiler said.

        Raises:
            TaskError: the task cannot be judged.
        """
        means = self._means
        self.findings = self._compiled = compiled
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
                try:
                    memory = means.checks.run(self._task, self._submission, reference, build)
                finally:
                    self._rest(reference)
        except (AgentError, MachineError, OSError) as error:
            self._conclude_error(error)
            return
        clean = "The memory check found nothing."
        findings = replace(self._compiled, outcome=Outcome.CORRECT, summary=clean)
        self.findings = conclude_memory(findings, memory)

    @property
    def _may_race(self) -> bool:
        return self.findings.outcome is Outcome.CORRECT

    def _load_ahead(self) -> None:
        """Load while somebody else may have the reference; what fails is told when the turn has come."""
        init_args = self._means.pool.init_args(self._task)
        if init_args is None:
            return
        try:
            self._load(init_args)
        except (AgentError, MachineError, OSError) as error:
            self._load_error = error

    def _load(self, init_args: Tree) -> None:
        build, means = self._compiled.build, self._means
        assert build is not None
        # Before the device is taken: whoever begins a candidate takes it, too, and may be kept waiting
        # by somebody who wants to time.
        begun = self._head_start or HeadStart(self._task, means, self._seed)
        self._candidate = begun.candidate()
        # Known before anything of the submission runs.
        self.isolation = isolation_of(
            self._candidate.isolation,
            self._task,
            closes_code=self._candidate.closes_code,
            reads_outputs=self._candidate.reads_outputs,
        )
        message = load_message(
            self._task,
            self._submission,
            build,
            init_args=init_args,
            num_threads=means.num_threads,
        )
        with means.lock.shared():
            self._loaded = self._candidate.load(message, deadline_s=means.deadlines.load_s)
        with means.host_work():
            self._candidate.forbid(deadline_s=means.deadlines.load_s)

    def _prove(self, reference: OpenReference) -> Match | None:
        """Run the hidden draws; None where the process is gone, of which the check may know more."""
        means = self._means
        try:
            if self._load_error is not None:
                raise self._load_error
            if self._loaded is None:
                self._load(reference.opened["init_args"])
            assert self._candidate is not None
            with means.lock.shared():
                match = Match(
                    reference.worker,
                    self._candidate,
                    opened=reference.opened,
                    deadlines=means.deadlines,
                    generator=random.Random(self._seed),
                )
                self._loaded = match.begin()
                self._draws = match.prove()
                require_memory(reference, self._candidate)
        except CandidateCrash as crash:
            self._conclude_error(crash)
            return None
        self.findings = conclude_draws(self._compiled, self._draws, self._candidate.printed)
        return match

    def _race(self, reference: OpenReference, match: Match, work: Work | None) -> None:
        loaded, build = self._loaded, self._compiled.build
        assert loaded is not None
        assert build is not None
        raced = race_alone(
            self._means, reference, match, build=build, prepare_ns=loaded.prepare_ns, work=work
        )
        self.timing, self.profile, self.telemetry = raced.timing, raced.profile, raced.telemetry

    def _rest(self, reference: OpenReference) -> None:
        """What was made for draws is given back, beside other work."""
        with self._means.lock.shared():
            reference.rest()

    def _dismiss(self) -> None:
        """End the candidate, or what was begun of one."""
        if self._candidate is not None:
            self._means.dismissals.dismiss(self._candidate)
        elif self._head_start is not None:
            self._head_start.abandon()

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

    def _conclude_error(self, error: AgentError | MachineError | OSError) -> None:
        """The end, with what was compiled, run and printed until then."""
        if isinstance(error, (CandidateCrash, CandidateTimeout, DeviceStopped)) and self._candidate:
            # Whoever is judged next finds the device without its kernels and its memory.
            self._candidate.close()
            self._candidate.wait_until_gone()
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
