"""The judge's side of the memory check on a GPU: one small draw under each tool of compute-sanitizer.

All tools are started at once, since each takes seconds to import torch; they run one after the other,
and what the first finds is told alone: behind a stray write the others would guess.

Covered: a tool that is missing, fails or takes too long says so, and accuses nobody. Not covered: see
`toolchains.sanitizer`, and submissions that deceive: they share the process that is watched.
"""

from __future__ import annotations

import contextlib
import random
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Build, MemoryFinding
from cuda_gym.core.task import Submission, Task
from cuda_gym.errors import (
    AgentError,
    CandidateTimeout,
    UnsupportedOnDevice,
    WorkerLost,
)
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.match import Match
from cuda_gym.judge.sandbox.memory_runs import MemoryRuns
from cuda_gym.judge.sandbox.open_reference import OpenReference
from cuda_gym.judge.sandbox.tool_run import ToolFailed, ToolRun
from cuda_gym.judge.toolchains.sanitizer import (
    TOOLS,
    find_sanitizer,
    read_findings,
    sanitizer_command,
    why_no_sanitizer,
)
from cuda_gym.judge.toolchains.toolchain import Toolchain

__all__ = ["SanitizedRuns"]

_START_S = 60.0
_RUN_S = 30.0
_FINISH_S = 20.0
_LIFETIME_S = 300
# Each tensor in an allocation of its own: what lies behind it then is nobody's.
_VARIABLES = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}


class SanitizedRuns(MemoryRuns):
    """Runs the ordinary build under a tool; that takes seconds, so it is done where it is asked for."""

    in_every_judgement = False
    looks_itself = False

    def __init__(
        self,
        toolchain: Toolchain,
        device: Device,
        lock: DeviceLock,
        *,
        deadlines: Deadlines,
        num_threads: int,
    ) -> None:
        super().__init__(toolchain, lock, deadlines=deadlines, num_threads=num_threads)
        self._device = device

    def run(
        self, task: Task, submission: Submission, reference: OpenReference, build: Build
    ) -> tuple[MemoryFinding, ...]:
        """Run one draw under each tool, until one finds something.

        Raises:
            UnsupportedOnDevice: a tool is missing, failed, or was too slow.
            AgentError: the submission failed, though nothing was found.
        """
        program = find_sanitizer()
        if program is None:
            raise UnsupportedOnDevice(why_no_sanitizer())
        with contextlib.ExitStack() as stack:
            try:
                runs = {
                    tool: stack.enter_context(contextlib.closing(self._start(program, tool, build)))
                    for tool in TOOLS
                }
                for tool, run in runs.items():
                    attempt = partial(self._attempt, task, submission, reference, build, run)
                    if findings := _findings(tool, run, attempt, build):
                        return findings
            except (ToolFailed, WorkerLost) as error:
                raise UnsupportedOnDevice(f"The memory check failed: {error}") from error
        return ()

    def _start(self, program: Path, tool: str, build: Build) -> ToolRun:
        kernels = [kernel.name for kernel in build.kernels]
        return ToolRun(
            lambda log: sanitizer_command(program, tool, log, kernels),
            device=self._device,
            lifetime_s=_LIFETIME_S,
            variables=_VARIABLES,
        )

    def _attempt(
        self,
        task: Task,
        submission: Submission,
        reference: OpenReference,
        build: Build,
        run: ToolRun,
    ) -> None:
        with self._lock.shared():
            candidate = run.candidate(deadline_s=_START_S)
            match = Match(
                reference.worker,
                candidate,
                opened=reference.opened,
                deadlines=replace(self._deadlines, load_s=_RUN_S, run_s=_RUN_S),
                generator=random.Random(secrets.randbits(64)),
            )
            match.load(task, submission, build, num_threads=self._num_threads)
            match.call_once(smallest=True)


def _findings(
    tool: str, run: ToolRun, attempt: Callable[[], None], build: Build
) -> tuple[MemoryFinding, ...]:
    """What the tool says of an attempt; how the attempt ended counts only where that is nothing."""
    trouble: AgentError | None = None
    try:
        attempt()
    except AgentError as error:
        trouble = error
    findings = read_findings(run.finish(deadline_s=_FINISH_S), build)
    if isinstance(trouble, CandidateTimeout) and not findings:
        raise UnsupportedOnDevice(
            f"Under {tool}, which slows kernels down, the submission did not answer within "
            f"{_RUN_S:g} s. verify with 'values' tells whether it ends at all."
        )
    if trouble is not None and not findings:
        raise trouble
    return findings
