"""The only door to a Verdict: build, check, compare, time.

    compile   static checks, build                                    -> Findings
    verify    compile, then hidden draws under two sets of weights    -> Findings
    judge     verify, then a race against torch.compile               -> Verdict

The judge's own process never imports a submission, nor torch. It holds the seeds, the clock and the
device lock, and speaks with the zygote's candidates and with one reference process a task.

Nothing here raises for what a submission does: the outcome says it. A `TaskError` is raised, for
the task is not the agent's; a machine that fails is the outcome `machine_error`.
"""

from __future__ import annotations

import atexit
import contextlib
import random
import secrets
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from cuda_gym.core import (
    Build,
    Device,
    DrawFindings,
    Findings,
    Outcome,
    Submission,
    Task,
    Timing,
    Verdict,
)
from cuda_gym.errors import AgentError, CompileError, MachineError, TaskError
from cuda_gym.judge.profiling import telemetry
from cuda_gym.judge.profiling.timing import TimingPlan
from cuda_gym.judge.sandbox.checked_runs import CheckedRuns
from cuda_gym.judge.sandbox.conditions import fingerprint_of, why_unranked
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.match import Match
from cuda_gym.judge.sandbox.pool import WorkerPool
from cuda_gym.judge.sandbox.protocol import Loaded
from cuda_gym.judge.toolchains.launchers import parse_launchers
from cuda_gym.judge.toolchains.registry import make_toolchain, resolve_device
from cuda_gym.judge.verification.conclusions import (
    conclude_draws,
    conclude_error,
    conclude_memory,
)
from cuda_gym.judge.verification.static_checks import check_kernels, check_model


@dataclass(frozen=True, kw_only=True)
class JudgeConfig:
    """How a judge works; the defaults are what a Verdict of a leaderboard is made with."""

    num_threads: int | None = None
    """Threads of both sides of a race; None takes every core."""
    memory_bytes: int = 8 << 30
    """What a candidate may take beyond what it is born with."""
    max_references: int = 2
    """Reference processes that are kept, the least recently used one leaves first."""
    deadlines: Deadlines = field(default_factory=Deadlines)
    timing: TimingPlan = field(default_factory=TimingPlan)
    folder: Path | None = None
    """Where admissions, baselines and compiled references are remembered; None is the user's."""


class Judge:
    """Judges submissions on one device. Safe to use from several threads."""

    def __init__(self, device: Device, config: JudgeConfig | None = None) -> None:
        self._device = device
        self._config = config or JudgeConfig()
        self._num_threads = self._config.num_threads or telemetry.num_cores()
        self._toolchain = make_toolchain(device)
        self._lock = DeviceLock(device)
        self._pool = WorkerPool(
            num_threads=self._num_threads,
            memory_bytes=self._config.memory_bytes,
            max_references=self._config.max_references,
            folder=self._config.folder,
            deadlines=self._config.deadlines,
        )
        self._checks = CheckedRuns(
            self._toolchain,
            self._pool,
            self._lock,
            deadlines=self._config.deadlines,
            num_threads=self._num_threads,
        )

    @property
    def device(self) -> Device:
        """Where this judge runs kernels."""
        return self._device

    def warm(self, task: Task) -> None:
        """Prepare the reference and the baselines of a task in the background; returns at once."""
        self._pool.start()

        def prepare() -> None:
            with (
                contextlib.suppress(TaskError, MachineError),
                self._pool.reference(task) as reference,
                self._lock.shared(),
            ):
                reference.baseline()

        threading.Thread(target=prepare, name=f"warm {task.id}", daemon=True).start()

    def compile(self, task: Task, submission: Submission) -> Findings:
        """Static checks and build."""
        try:
            build = self._build(task, submission)
        except (AgentError, MachineError) as error:
            return conclude_error(error)
        cached = ", unchanged since an earlier build" if build.cached else ""
        return Findings(
            outcome=None,
            summary=f"Compiled {len(build.kernels)} kernel(s) in {build.build_s:.2f} s{cached}.",
            build=build,
            diagnostics=build.diagnostics,
        )

    def verify(self, task: Task, submission: Submission, *, check: str = "values") -> Findings:
        """Compile, then run hidden draws.

        Args:
            task: What is asked for.
            submission: What is tried.
            check: `values` compares outputs; `memory` looks for races, stray accesses and barriers
                gone wrong in one run, and does not compare.

        Raises:
            TaskError: the task cannot be judged.
            ValueError: there is no such check.
        """
        if check not in ("values", "memory"):
            raise ValueError(f"There is no check {check!r}; it is 'values' or 'memory'.")
        findings = self.compile(task, submission)
        if findings.outcome is not None:
            return findings
        if check == "memory":
            return self._check_alone(task, submission, findings)
        return self._attempt(task, submission, findings, seed=None).findings

    def judge(self, task: Task, submission: Submission, *, seed: int | None = None) -> Verdict:
        """Compile, verify and race, under fresh secret seeds unless one is given for a replay.

        Raises:
            TaskError: the task cannot be judged.
        """
        start = time.monotonic()
        seed = secrets.randbits(48) if seed is None else seed
        findings = self.compile(task, submission)
        attempt = _Attempt(findings=findings)
        if findings.outcome is None:
            attempt = self._attempt(task, submission, findings, seed=seed)
        loaded = attempt.loaded
        return Verdict(
            outcome=attempt.findings.outcome or Outcome.MACHINE_ERROR,
            task_id=task.id,
            submission=submission.hash,
            device=str(self._device),
            findings=attempt.findings,
            fingerprint=None
            if loaded is None
            else fingerprint_of(
                task,
                loaded,
                num_threads=self._num_threads,
                toolchain=self._toolchain.name,
                torch=self._pool.torch,
            ),
            timing=attempt.timing,
            telemetry=telemetry.read_cpu(),
            unranked=None if loaded is None else why_unranked(loaded, attempt.timing),
            seed=seed,
            judge_s=time.monotonic() - start,
        )

    def close(self) -> None:
        """End all processes; safe to call twice."""
        self._checks.close()
        self._pool.close()

    def _build(self, task: Task, submission: Submission) -> Build:
        source = submission.text("model_new.py")
        if source is None:
            raise CompileError(
                "There is no model_new.py. Write one with a class ModelNew(nn.Module)."
            )
        check_model(source, device=self._device, library=task.library)
        kernels = {path: text for path, text in submission.files if path != "model_new.py"}
        check_kernels(kernels, task.library)
        with self._lock.shared():
            build = self._toolchain.build(submission, deadline_s=self._config.deadlines.build_s)
        parse_launchers(kernels)  # after the compiler: what is no C++ is better told by it
        return build

    def _attempt(
        self, task: Task, submission: Submission, compiled: Findings, *, seed: int | None
    ) -> _Attempt:
        """Prove the submission; race it, too, where there is the seed of a Verdict.

        Locks are always taken in this order: first the reference, then the device.
        """
        assert compiled.build is not None
        attempt = _Attempt(findings=compiled)
        candidate = None
        checking = None if seed is None else self._checks.build(submission)
        try:
            with self._pool.reference(task) as reference:
                with self._lock.shared():
                    if seed is not None:
                        reference.baseline()
                    candidate = self._pool.fork()
                    match = Match(
                        reference.worker,
                        candidate,
                        opened=reference.opened,
                        deadlines=self._config.deadlines,
                        generator=random.Random(secrets.randbits(64) if seed is None else seed),
                    )
                    attempt.loaded = match.load(
                        task, submission, compiled.build, num_threads=self._num_threads
                    )
                    attempt.draws = match.prove()
                attempt.findings = conclude_draws(compiled, attempt.draws, candidate.printed)
                if checking is not None and attempt.draws[-1].passed:
                    memory = self._checks.try_run(task, submission, reference, checking.result())
                    attempt.findings = conclude_memory(attempt.findings, memory)
                    if not memory:
                        match.reload()  # the check has moved the reference's weights
                        with self._lock.exclusive():
                            attempt.timing = match.race(
                                self._pool.dry(),
                                self._config.timing,
                                reference.baseline,
                                prepare_ns=attempt.loaded.prepare_ns,
                            )
        except (AgentError, MachineError) as error:
            attempt.findings = replace(
                conclude_error(error),
                build=compiled.build,
                draws=attempt.draws,
                output=candidate.printed if candidate is not None else "",
            )
        finally:
            if candidate is not None:
                candidate.close()
        return attempt

    def _check_alone(self, task: Task, submission: Submission, compiled: Findings) -> Findings:
        try:
            build = self._checks.build(submission).result()
            if build is None:
                return replace(
                    compiled,
                    outcome=Outcome.UNSUPPORTED_ON_DEVICE,
                    summary="This submission cannot be built for the memory check; "
                    "verify with 'values'.",
                )
            with self._pool.reference(task) as reference:
                memory = self._checks.run(task, submission, reference, build)
        except (AgentError, MachineError) as error:
            return replace(conclude_error(error), build=compiled.build)
        clean = "The memory check found nothing."
        return conclude_memory(replace(compiled, outcome=Outcome.CORRECT, summary=clean), memory)


@dataclass
class _Attempt:
    """What one attempt has come to so far."""

    findings: Findings
    loaded: Loaded | None = None
    draws: tuple[DrawFindings, ...] = ()
    timing: Timing | None = None


_judges: dict[Device, Judge] = {}
_judges_lock = threading.Lock()


def open_judge(device: str = "auto") -> Judge:
    """The judge of a device that this process shares; it is closed when the process ends.

    Raises:
        MissingTool: where nothing here drives the device.
        ValueError: where it is no name of a device.
    """
    resolved = resolve_device(device)
    with _judges_lock:
        if resolved not in _judges:
            judge = _judges[resolved] = Judge(resolved)
            atexit.register(judge.close)
        return _judges[resolved]
