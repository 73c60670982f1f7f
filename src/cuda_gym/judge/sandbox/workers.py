"""The judge's ends of the zygote and of its candidates.

Every wait has a deadline here. A candidate that misses it is killed with all it started; a
candidate that dies, or speaks out of turn, is told so as the agent's fault; a zygote that dies is ours, and a
`WorkerLost`.

A candidate is frozen (SIGSTOP through its pidfd) whenever the judge is not waiting for it: it
cannot slow down the reference, and it cannot go on working on what it says it has finished.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import tempfile
import threading
import time
from collections.abc import Mapping
from typing import Any

from cuda_gym.errors import (
    AgentError,
    CandidateError,
    CandidateTimeout,
    Refused,
    WorkerLost,
    WrongOutput,
)
from cuda_gym.judge.sandbox.channel import Channel, ChannelClosed, DeadlinePassed, Drain
from cuda_gym.judge.sandbox.processes import end, spawn
from cuda_gym.judge.sandbox.protocol import (
    Born,
    Ended,
    Failed,
    Fork,
    Load,
    Loaded,
    ProtocolError,
    Ran,
    Ready,
    Reload,
    Run,
)

_START_S = 60.0


class CandidateCrash(CandidateError):
    """The process is gone: a fault of the processor, a signal, or an exit of its own."""


class FoundByCheck(CandidateError):
    """A checking build stopped a kernel; the message is what it found, a line of JSON each."""


_FAILURES: Mapping[str, type[AgentError]] = {
    "wrong": WrongOutput,
    "refused": Refused,
    "found": FoundByCheck,
}
_QUIT_EXIT = 124
"""Likewise, where it was asked what it is doing."""
_LAST_WORDS_S = 0.5
_GONE_S = 2.0
_FAULT_EXIT = 139
"""The runtime's fault handler writes one line and leaves with this code."""


class CandidateWorker:
    """The judge's end of one candidate."""

    def __init__(self, channel: Channel, printed: Drain, ended: threading.Event) -> None:
        self._channel = channel
        self._printed = printed
        self._ended = ended
        self.end: Ended | None = None
        """How it ended; set by the zygote's listener before `ended`."""
        deadline = time.monotonic() + _START_S
        try:
            _, (self._pidfd,) = channel.receive(Born, deadline=deadline, drains=(printed,))
        except (ProtocolError, DeadlinePassed) as error:
            raise WorkerLost("A candidate process could not be started.") from error

    @property
    def ended(self) -> bool:
        """Whether it is gone, or was closed."""
        return self._pidfd < 0 or self._ended.is_set()

    @property
    def printed(self) -> str:
        """What it has printed so far, head and tail."""
        if not self._printed.closed:
            self._printed.read()
        return self._printed.text

    def load(self, message: Load, weights: int, *, deadline_s: float) -> Loaded:
        """Import the submission and construct its model.

        Raises:
            AgentError: it failed, crashed, timed out or was refused.
        """
        reply, _ = self._ask(message, (weights,), Loaded, deadline_s)
        return reply  # type: ignore[no-any-return]

    def reload(self, message: Reload, weights: int, *, deadline_s: float) -> Loaded:
        """Overwrite the weights. Raises like `load`."""
        reply, _ = self._ask(message, (weights,), Loaded, deadline_s)
        return reply  # type: ignore[no-any-return]

    def run(
        self, message: Run, inputs: int, outputs: int, *, deadline_s: float
    ) -> tuple[Ran, float]:
        """Call forward, and measure on our own clock from handing over until it is frozen again.

        Returns:
            Its claims, and our seconds.
        """
        reply, wall_s = self._ask(message, (inputs, outputs), Ran, deadline_s)
        if len(reply.call_ns) != len(message.inputs) or min(reply.call_ns, default=0) < 0:
            self.close()
            raise CandidateError(f"The submission's process claims {len(reply.call_ns)} calls.")
        return reply, wall_s

    def wait_until_gone(self) -> None:
        """After `close`: until its memory has been given back, which takes a core for a while."""
        self._ended.wait(timeout=_GONE_S)

    def close(self) -> None:
        """Kill it with everything it started; safe to call twice."""
        if self._pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            os.close(self._pidfd)
            self._pidfd = -1
            self._channel.close()
            self._printed.close()

    def _ask(
        self,
        message: Load | Reload | Run,
        descriptors: tuple[int, ...],
        kind: type[Any],
        deadline_s: float,
    ) -> tuple[Any, float]:
        self._signal(signal.SIGCONT)
        start = time.monotonic()
        try:
            self._channel.send(message, descriptors)
            reply, stray = self._channel.receive(
                kind, Failed, deadline=start + deadline_s, drains=(self._printed,)
            )
            self._signal(signal.SIGSTOP)
            wall_s = time.monotonic() - start
        except ChannelClosed:
            raise CandidateCrash(self._how_it_ended()) from None
        except DeadlinePassed:
            doing = self._last_words()
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
            raise _FAILURES.get(reply.kind, CandidateError)(reply.message)
        return reply, wall_s

    def _last_words(self) -> str:
        """What its kernel was doing at the deadline, if the runtime answers."""
        self._signal(signal.SIGQUIT)
        self._ended.wait(timeout=_LAST_WORDS_S)
        lines = self.printed.splitlines()
        answered = self.end is not None and self.end.exit_code == _QUIT_EXIT
        return f"At that moment: {lines[-1].strip()}." if answered and lines else ""

    def _signal(self, number: signal.Signals) -> None:
        if self._pidfd < 0:
            raise CandidateError("The submission's process has ended already.")
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    def _how_it_ended(self) -> str:
        """The fault, the signal or the exit code."""
        self._ended.wait(timeout=5.0)
        for _ in range(64):
            if self._printed.closed:
                break
            self._printed.read()
        end, lines = self.end, self._printed.text.splitlines()
        self.close()
        if end is not None and end.exit_code == _FAULT_EXIT and lines:
            return f"The submission crashed: {lines[-1].strip()}."
        if end is not None and end.signal is not None:
            return f"The submission crashed with {_signal_name(end.signal)}."
        code = "unknown" if end is None else end.exit_code
        return f"The submission ended its process (exit code {code}) before it answered."


class ZygoteWorker:
    """The judge's end of the zygote. Safe to use from several threads."""

    def __init__(self) -> None:
        self._channel, theirs = Channel.pair()
        self._folder = tempfile.TemporaryDirectory(prefix="cuda_gym-", ignore_cleanup_errors=True)
        self._process = spawn("cuda_gym.judge.sandbox.zygote", theirs, TMPDIR=self._folder.name)
        self._numbers = itertools.count(1)
        self._candidates: dict[int, tuple[CandidateWorker | None, threading.Event]] = {}
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._lost = False
        self.torch = ""
        """Version of torch in it, once it is ready."""
        threading.Thread(target=self._listen, name="zygote listener", daemon=True).start()

    @property
    def lost(self) -> bool:
        """Whether it is gone."""
        return self._lost or self._process.poll() is not None

    def fork(self, *, memory_bytes: int) -> CandidateWorker:
        """A new candidate.

        Raises:
            WorkerLost: where the zygote is gone or never became ready.
        """
        self.wait()
        ours, end = Channel.pair()
        reading, writing = os.pipe2(os.O_CLOEXEC)
        number, ended = next(self._numbers), threading.Event()
        with self._lock:
            self._candidates[number] = (None, ended)
            try:
                fork = Fork(candidate=number, memory_bytes=memory_bytes)
                self._channel.send(fork, (end.fileno(), writing))
            except ChannelClosed as error:
                raise WorkerLost("The process that forks candidates is gone.") from error
            finally:
                end.close()
                os.close(writing)
        worker = CandidateWorker(ours, Drain(reading), ended)
        with self._lock:
            if number in self._candidates:
                self._candidates[number] = (worker, ended)
        return worker

    def wait(self) -> None:
        """Until it has imported everything.

        Raises:
            WorkerLost: it did not within a minute.
        """
        if not self._ready.wait(_START_S) or self.lost:
            self.close()
            raise WorkerLost(
                "The process that forks candidates did not start. "
                "`cuda-gym doctor` shows whether torch can be imported."
            )

    def close(self) -> None:
        """End it and all its candidates; safe to call twice."""
        self._channel.hang_up()
        end(self._process)
        self._folder.cleanup()

    def _listen(self) -> None:
        try:
            ready, _ = self._channel.receive(Ready)
            self.torch = ready.torch
            if ready.threads != 1:
                raise ProtocolError(f"A process with {ready.threads} threads cannot be forked.")
            self._ready.set()
            while True:
                ended, _ = self._channel.receive(Ended)
                with self._lock:
                    worker, event = self._candidates.pop(ended.candidate)
                if worker is not None:
                    worker.end = ended
                event.set()
        except (ProtocolError, OSError, ValueError):
            self._lost = True
            self._ready.set()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
