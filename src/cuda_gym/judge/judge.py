"""The only door to a Verdict: build, check, compare, time.

    compile   static checks, build                                    -> Findings
    verify    compile, then hidden draws and the memory check         -> Findings
    judge     verify, then a race against torch.compile               -> Verdict

The judge's own process never imports a submission, nor torch. It holds the seeds, the clock and the
device lock, and speaks with the zygote's candidates and with one reference process a task.

Nothing here raises for what a submission does: the outcome says it. A `TaskError` is raised, for
the task is not the agent's; a machine that fails is the outcome `machine_error`.
"""

from __future__ import annotations

import atexit
import contextlib
import secrets
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Findings, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Fingerprint, Verdict
from cuda_gym.errors import AgentError, MachineError, TaskError
from cuda_gym.judge.attempt import Attempt
from cuda_gym.judge.compilation import build_submission
from cuda_gym.judge.device_facts import facts_of
from cuda_gym.judge.means import Means
from cuda_gym.judge.profiling import telemetry
from cuda_gym.judge.profiling.audits import audited_calls
from cuda_gym.judge.profiling.timing_plan import TimingPlan
from cuda_gym.judge.sandbox.background import Background
from cuda_gym.judge.sandbox.checked_runs import CheckedRuns
from cuda_gym.judge.sandbox.conditions import fingerprint_of, why_unranked
from cuda_gym.judge.sandbox.counted_runs import CountedRuns
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.dismissals import Dismissals
from cuda_gym.judge.sandbox.memory_runs import MemoryRuns
from cuda_gym.judge.sandbox.openings import Openings
from cuda_gym.judge.sandbox.pool import WorkerPool
from cuda_gym.judge.sandbox.sanitized_runs import SanitizedRuns
from cuda_gym.judge.toolchains.registry import make_toolchain, resolve_device
from cuda_gym.judge.verification.conclusions import conclude_error


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
    timing: TimingPlan | None = None
    """How long to race; None takes what suits the device."""
    folder: Path | None = None
    """Where admissions, baselines and compiled references are remembered; None is the user's."""


class Judge:
    """Judges submissions on one device. Safe to use from several threads."""

    def __init__(self, device: Device, config: JudgeConfig | None = None) -> None:
        self._device = device
        self._facts = facts_of(device)
        self._config = config or JudgeConfig()
        self._num_threads = self._config.num_threads or telemetry.num_cores()
        self._toolchain = make_toolchain(device)
        self._lock = DeviceLock(device)
        self._pool = WorkerPool(
            device,
            num_threads=self._num_threads,
            memory_bytes=self._config.memory_bytes + self._facts.address_bytes,
            max_references=self._config.max_references,
            folder=self._config.folder,
            deadlines=self._config.deadlines,
            own_kernels=self._toolchain.own_kernels,
        )
        deadlines, num_threads = self._config.deadlines, self._num_threads
        self._checks: MemoryRuns
        if device.kind == "cpu":
            self._checks = CheckedRuns(
                self._toolchain,
                self._pool,
                self._lock,
                deadlines=deadlines,
                num_threads=num_threads,
            )
        else:
            self._checks = SanitizedRuns(
                self._toolchain, device, self._lock, deadlines=deadlines, num_threads=num_threads
            )
        ahead = Background("made ahead")
        self._means = Means(
            pool=self._pool,
            lock=self._lock,
            openings=Openings(),
            host_work=self._lock.shared if self._facts.host_disturbs else contextlib.nullcontext,
            checks=self._checks,
            counts=CountedRuns(device, self._lock, deadlines=deadlines, num_threads=num_threads),
            deadlines=self._config.deadlines,
            plan=self._config.timing or self._facts.plan,
            device=device,
            num_threads=self._num_threads,
            ahead=ahead,
            dismissals=Dismissals(self._lock, ahead if self._facts.ends_disturb else None),
        )

    @property
    def device(self) -> Device:
        """Where this judge runs kernels."""
        return self._device

    @property
    def closes_code(self) -> bool:
        """Whether submissions here cannot run what computes for torch; false before the first was run."""
        return self._pool.closes_code

    @property
    def reads_outputs(self) -> bool:
        """Whether outputs of timed calls are read from the memory of a submission; false before the first was run."""
        return self._pool.reads_outputs

    def warm(self, task: Task) -> None:
        """Prepare the reference and the baselines of a task in the background; returns at once."""
        self._pool.start()

        def prepare() -> None:
            with (
                contextlib.suppress(TaskError, MachineError),
                self._pool.reference(task) as reference,
                self._lock.shared(),
            ):
                baseline = reference.baseline()
                if self._means.plan.num_audits:
                    plan = self._means.plan
                    reference.rehearse(
                        audited_calls(baseline.compile_us, plan),
                        contents_bytes=plan.max_content_bytes,
                    )
                reference.work()

        threading.Thread(target=prepare, name=f"warm {task.id}", daemon=True).start()

    def compile(self, task: Task, submission: Submission) -> Findings:
        """Static checks and build."""
        try:
            build = build_submission(
                task,
                submission,
                device=self._device,
                toolchain=self._toolchain,
                held=self._means.host_work,
                deadline_s=self._config.deadlines.build_s,
            )
        except (AgentError, MachineError, OSError) as error:
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
            check: `values` compares outputs, and where that is cheap (`cpu`) looks at one run for
                races, stray accesses and barriers gone wrong; `memory` does only the latter.

        Raises:
            TaskError: the task cannot be judged.
            ValueError: there is no such check.
        """
        if check not in ("values", "memory"):
            raise ValueError(f"There is no check {check!r}; it is 'values' or 'memory'.")
        attempt = Attempt(task, submission, self._means)
        if check == "values":
            attempt.begin()
        findings = self.compile(task, submission)
        if findings.outcome is not None:
            attempt.abandon(findings)
        elif check == "memory":
            attempt.check_memory(findings)
        else:
            attempt.run(findings)
        return attempt.findings

    def judge(
        self,
        task: Task,
        submission: Submission,
        *,
        seed: int | None = None,
        counters: bool = False,
    ) -> Verdict:
        """Compile, verify and race, under fresh secret seeds unless one is given for a replay.

        Args:
            task: What is asked for.
            submission: What is tried.
            seed: Of an earlier judgement.
            counters: Whether the hardware's counters are read as well, which takes seconds.

        Raises:
            TaskError: the task cannot be judged.
        """
        start = time.monotonic()
        seed = secrets.randbits(48) if seed is None else seed
        attempt = Attempt(task, submission, self._means, seed=seed)
        attempt.begin()
        findings = self.compile(task, submission)
        if findings.outcome is None:
            attempt.run(findings, races=True, counters=counters)
        else:
            attempt.abandon(findings)
        return Verdict(
            outcome=attempt.findings.outcome or Outcome.MACHINE_ERROR,
            task_id=task.id,
            submission=submission.hash,
            device=str(self._device),
            findings=attempt.findings,
            fingerprint=self._fingerprint(task, attempt),
            timing=attempt.timing,
            profile=attempt.profile,
            telemetry=attempt.telemetry or telemetry.read_device(self._device),
            unranked=self._why_unranked(task, attempt),
            seed=seed,
            judge_s=time.monotonic() - start,
        )

    def close(self) -> None:
        """End all processes; safe to call twice."""
        self._means.ahead.shutdown(wait=False, cancel_futures=True)
        self._means.dismissals.close()
        self._checks.close()
        self._pool.close()

    def _why_unranked(self, task: Task, attempt: Attempt) -> str | None:
        if attempt.isolation is None:
            return None
        timing, seen = attempt.timing, attempt.telemetry
        return why_unranked(attempt.isolation, timing, seen, task=task, device=self._device)

    def _fingerprint(self, task: Task, attempt: Attempt) -> Fingerprint | None:
        build, isolation = attempt.findings.build, attempt.isolation
        if isolation is None:
            return None
        plan = self._config.timing or self._facts.plan
        return fingerprint_of(
            task,
            isolation=isolation,
            device=telemetry.device_name(self._device, num_threads=self._num_threads),
            toolchain=self._toolchain.name if build is None else build.toolchain,
            torch=self._pool.torch,
            timer=plan.timer if attempt.timing is None else attempt.timing.timer,
            transport=self._facts.transport,
        )


_judges: dict[Device, Judge] = {}
_judges_lock = threading.Lock()


def open_judge(device: str = "auto") -> Judge:
    """The judge of a device that this process shares; it is closed when the process ends.

    Raises:
        MissingTool: where nothing here drives the device, or there is no such GPU.
        ValueError: where it is no name of a device.
    """
    resolved = resolve_device(device)
    with _judges_lock:
        if resolved not in _judges:
            judge = _judges[resolved] = Judge(resolved)
            atexit.register(judge.close)
        return _judges[resolved]
