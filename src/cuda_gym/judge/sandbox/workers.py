"""The judge's end of a candidate.

Every wait has a deadline here. A candidate that misses it is killed with all it started; a
candidate that dies, or speaks out of turn, is told so as the agent's fault.

A candidate is frozen (SIGSTOP through its pidfd) whenever the judge is not waiting for it: it
cannot slow down the reference, and it cannot go on working on what it says it has finished. One that
runs under a tool is not: nothing is timed there.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import Any

from cuda_gym.errors import (
    CandidateError,
    CandidateTimeout,
    WorkerLost,
)
from cuda_gym.judge.sandbox.candidate_faults import CandidateCrash, failure
from cuda_gym.judge.sandbox.candidate_process import CandidateProcess
from cuda_gym.judge.sandbox.channel import Channel, ChannelClosed, DeadlinePassed, Drain
from cuda_gym.judge.sandbox.code_from_outside import (
    nameless_code,
    require_closed,
)
from cuda_gym.judge.sandbox.core_time import CoreTime
from cuda_gym.judge.sandbox.messages import (
    Born,
    CodeRange,
    Failed,
    Forbid,
    Forbidden,
    Load,
    Loaded,
    Open,
    Opened,
    Ran,
    Reload,
    Rest,
    Rested,
    Run,
)
from cuda_gym.judge.sandbox.outside_memory import OutsideMemory
from cuda_gym.judge.sandbox.protocol import ProtocolError
from cuda_gym.judge.sandbox.run_claims import require_possible_load, require_possible_run

_START_S = 60.0
_OPEN_S = 60.0
"""A driver that is loaded for the first time, on a machine with many GPUs, takes its time."""


class CandidateWorker:
    """The judge's end of one candidate.

    Args:
        channel: Its channel.
        printed: What it prints.
        ended: Set once it is gone.
        pidfd: Of its process; owned.
        freezes: Whether it is stopped while nobody waits for it: not under a tool, which talks to it.
    """

    def __init__(
        self,
        channel: Channel,
        printed: Drain,
        ended: threading.Event,
        pidfd: int,
        *,
        freezes: bool = True,
    ) -> None:
        self._channel = channel
        self.process = CandidateProcess(printed, ended, pidfd, freezes=freezes)
        """Stopped whenever nobody waits for it, and asked what became of it."""
        self._is_open = False
        self._opening: Open | None = None
        self.isolation = ""
        """What stands between it and the machine, once it is open."""
        self._closed_code: Sequence[CodeRange] = ()
        self._nameless: frozenset[tuple[int, int]] = frozenset()
        """Memory of no file that it could run before there was a submission."""
        self._memory: OutsideMemory | None = None
        self._cores = CoreTime(pidfd)

    @classmethod
    def announced(cls, channel: Channel, printed: Drain, ended: threading.Event) -> CandidateWorker:
        """A forked one, as soon as its warden announces it.

        Raises:
            WorkerLost: nobody did.
        """
        deadline = time.monotonic() + _START_S
        try:
            _, (pidfd,) = channel.receive(Born, deadline=deadline, drains=(printed,))
        except (ProtocolError, DeadlinePassed) as error:
            raise WorkerLost("A candidate process could not be started.") from error
        return cls(channel, printed, ended, pidfd)

    @property
    def ended(self) -> bool:
        """Whether it is gone, or was closed."""
        return self.process.ended

    @property
    def printed(self) -> str:
        """What it has printed so far, head and tail."""
        return self.process.printed

    def expect_closed(self, code: Sequence[CodeRange]) -> None:
        """From its load on it must have closed some code, where it is possible to look."""
        nameless = nameless_code(self.process.pidfd)
        self._closed_code = () if nameless is None else code
        self._nameless = nameless or frozenset()

    def will_be_read(self) -> bool:
        """From now on outputs of timed calls are read from its memory, if the kernel lets us; whether it does."""
        self._memory = OutsideMemory.of(self.process.pidfd)
        return self.reads_outputs

    @property
    def reads_outputs(self) -> bool:
        """Whether outputs of timed calls can stay in its memory, and are read from there."""
        return self._memory is not None

    def will_open(self, device: str, *, own_kernels: str = "") -> None:
        """Say which device it gets ready, as soon as somebody waits for that."""
        self._opening = Open(device=device, own_kernels=own_kernels)

    @property
    def closes_code(self) -> bool:
        """Whether it has to close some code, and is looked at from outside for that."""
        return bool(self._closed_code)

    def load(self, message: Load, *, deadline_s: float) -> Loaded:
        """Import the submission and construct its model.

        Raises:
            AgentError: it failed, crashed, timed out or was refused.
        """
        if message.allowed_library:
            self._closed_code = ()
        self._cores.most = message.num_threads
        return self._load(message, (), deadline_s)

    def forbid(self, *, deadline_s: float) -> None:
        """Leave nothing that computes but its kernels. Raises like `load`."""
        self._ask(Forbid(), (), Forbidden, deadline_s)
        require_closed(self.process.pidfd, self._closed_code, self._nameless)

    def reload(self, message: Reload, weights: int, *, deadline_s: float) -> Loaded:
        """Give it weights, or others. Raises like `load`."""
        return self._load(message, (weights,), deadline_s)

    def run(
        self, message: Run, inputs: int, outputs: int, *, deadline_s: float
    ) -> tuple[Ran, float]:
        """Call forward, and measure on our own clock from handing over until it is frozen again.

        Returns:
            Its claims, and our seconds: those of its cores, where it used more of them than it may.
        """
        taken_s = self._cores.taken_s()
        reply, wall_s = self._ask(message, (inputs, outputs), Ran, deadline_s)
        wall_s = max(wall_s, self._cores.wall_s(taken_s))
        require_possible_run(reply, len(message.inputs))
        if message.stays and not message.dry and self._memory is not None:
            specs = [spec for call in message.outputs for spec in call]
            self._memory.read_outputs(reply.places, specs, message.output_region, outputs)
        return reply, wall_s

    def run_sealed(
        self, message: Run, inputs: int, outputs: int, page: int, *, deadline_s: float
    ) -> Ran:
        """Call forward behind the gate of a page, which somebody else opens.

        Returns:
            Its claims.
        """
        reply: Ran
        reply, _ = self._ask(message, (inputs, outputs, page), Ran, deadline_s)
        require_possible_run(reply, len(message.inputs))
        return reply

    def rest(self, *, deadline_s: float) -> None:
        """Let it give back what memory it shares.

        Raises:
            AgentError: it does not answer.
        """
        self._ask(Rest(), (), Rested, deadline_s)

    def wait_until_gone(self) -> None:
        """After `close`: until its memory has been given back, which takes a core for a while."""
        self.process.wait_until_gone()

    def dismiss(self, *, deadline_s: float) -> bool:
        """Let it end by itself, as what watches it wants to see; whether it did in time."""
        self._channel.hang_up()
        return self.process.wait_until_gone(deadline_s)

    def close(self) -> None:
        """Kill it with everything it started; safe to call twice."""
        if not self.process.is_closed:
            self.process.close()
            self._channel.close()
            if self._memory is not None:
                self._memory.close()

    def _load(self, message: Load | Reload, weights: tuple[int, ...], deadline_s: float) -> Loaded:
        reply: Loaded
        reply, _ = self._ask(message, weights, Loaded, deadline_s)
        require_possible_load(reply)
        return reply

    def _ask(
        self,
        message: Load | Forbid | Reload | Run | Rest,
        descriptors: tuple[int, ...],
        kind: type[Any],
        deadline_s: float,
    ) -> tuple[Any, float]:
        if self._is_open and self._channel.has_unread():
            self.close()
            raise CandidateError("The submission's process spoke out of turn: nobody had asked it.")
        self.process.thaw()
        self.wait_until_open()
        start = time.monotonic()
        try:
            self._channel.send(message, descriptors)
            reply, stray = self._channel.receive(
                kind, Failed, deadline=start + deadline_s, drains=(self.process.drain,)
            )
            self.process.freeze()
            stopped = self.process.stopped_at(start + deadline_s)
            wall_s = (stopped or time.monotonic()) - start
        except ChannelClosed:
            raise CandidateCrash(self._how_it_ended()) from None
        except DeadlinePassed:
            doing = self.process.last_words()
            self.close()
            raise CandidateTimeout(
                f"The submission did not answer within {deadline_s:g} s and was stopped. "
                + (doing or "Look for an endless loop, or far too much work for one thread.")
            ) from None
        except ProtocolError as error:
            self.close()
            raise CandidateError(f"The submission's process spoke out of turn: {error}") from error
        for descriptor in stray:
            os.close(descriptor)
        if isinstance(reply, Failed):
            raise failure(reply.kind, reply.message)
        return reply, wall_s

    def wait_until_open(self) -> None:
        """Let it get the device ready, and wait for that. Nothing of a submission has run then.

        Raises:
            WorkerLost: it never will be.
        """
        if self._is_open or self.process.is_closed:
            return
        deadline = time.monotonic() + _OPEN_S
        try:
            if self._opening is not None:
                self._channel.send(self._opening)
            opened, _ = self._channel.receive(
                Opened, deadline=deadline, drains=(self.process.drain,)
            )
        except (ChannelClosed, ProtocolError, DeadlinePassed) as error:
            said = self.printed.strip().splitlines()[-1:]
            self.close()
            raise WorkerLost(
                f"A candidate process could not open the device. {' '.join(said)}".strip()
            ) from error
        if opened.trouble:
            self.close()
            raise WorkerLost(f"The device cannot be used: {opened.trouble}")
        self.isolation = opened.isolation
        self._is_open = True

    def _how_it_ended(self) -> str:
        """What became of it, and let go of it. Raises like `CandidateProcess.how_it_ended`."""
        try:
            return self.process.how_it_ended(self._closed_code)
        finally:
            self.close()
