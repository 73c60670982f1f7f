"""The judge's end of the zygote. It is ours: if it dies or falls silent, `WorkerLost`."""

from __future__ import annotations

import itertools
import os
import tempfile
import threading

from cuda_gym.core.device import Device
from cuda_gym.errors import WorkerLost
from cuda_gym.judge.sandbox.channel import Channel, ChannelClosed, Drain
from cuda_gym.judge.sandbox.messages import (
    CodeRange,
    Ended,
    Fork,
    Ready,
)
from cuda_gym.judge.sandbox.processes import end, spawn
from cuda_gym.judge.sandbox.protocol import ProtocolError
from cuda_gym.judge.sandbox.workers import CandidateWorker

_START_S = 60.0


class ZygoteWorker:
    """The judge's end of the zygote. Safe to use from several threads."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="cuda_gym-", ignore_cleanup_errors=True)
        folder = self._folder.name
        self._channel, theirs = Channel.pair()
        try:
            self._process = spawn(
                "cuda_gym.judge.sandbox.zygote", theirs, TMPDIR=folder, CUDA_GYM_OWN_FOLDER=folder
            )
        except OSError:
            self._channel.close()
            self._folder.cleanup()
            raise
        self._numbers = itertools.count(1)
        self._candidates: dict[int, tuple[CandidateWorker | None, threading.Event]] = {}
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._lost = False
        self._closed_code: tuple[CodeRange, ...] = ()
        self.torch = ""
        """Version of torch in it, once it is ready."""
        threading.Thread(target=self._listen, name="zygote listener", daemon=True).start()

    reads_outputs = False
    """Whether outputs of its latest candidate can be read from outside."""

    @property
    def lost(self) -> bool:
        """Whether it is gone."""
        return self._lost or self._process.poll() is not None

    @property
    def is_ready(self) -> bool:
        """Whether it can fork at once."""
        return self._ready.is_set() and not self.lost

    @property
    def closes_code(self) -> bool:
        """Whether its candidates on `cpu` close what computes for torch; false before it is ready."""
        return bool(self._closed_code)

    def fork(self, device: Device, *, own_kernels: str, memory_bytes: int) -> CandidateWorker:
        """A new candidate, which gets the device ready when somebody waits for that.

        Raises:
            WorkerLost: where the zygote is gone or never became ready.
        """
        self.wait()
        number, ended = next(self._numbers), threading.Event()
        with self._lock:
            self._candidates[number] = (None, ended)
        ours, printed = self._ask(
            Fork(candidate=number, needs_proc=device.kind != "cpu", memory_bytes=memory_bytes)
        )
        try:
            worker = CandidateWorker.announced(ours, printed, ended)
        except WorkerLost:
            ours.close()
            printed.close()
            raise
        if device.kind == "cpu":
            worker.expect_closed(self._closed_code)
            self.reads_outputs = worker.will_be_read()
        with self._lock:
            if number in self._candidates:
                self._candidates[number] = (worker, ended)
        worker.will_open(str(device), own_kernels=own_kernels)
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

    def _ask(self, fork: Fork) -> tuple[Channel, Drain]:
        """The channel to a candidate that is being forked, and what it will print."""
        reading, writing = os.pipe2(os.O_CLOEXEC)
        printed = Drain(reading)
        try:
            ours, end = Channel.pair()
        except OSError:
            os.close(writing)
            printed.close()
            raise
        with self._lock:
            try:
                self._channel.send(fork, (end.fileno(), writing))
            except ChannelClosed as error:
                ours.close()
                printed.close()
                raise WorkerLost("The process that forks candidates is gone.") from error
            finally:
                end.close()
                os.close(writing)
        return ours, printed

    def _listen(self) -> None:
        try:
            ready, _ = self._channel.receive(Ready)
            self.torch, self._closed_code = ready.torch, ready.closed
            if ready.threads != 1:
                raise ProtocolError(f"A process with {ready.threads} threads cannot be forked.")
            self._ready.set()
            while True:
                ended, _ = self._channel.receive(Ended)
                with self._lock:
                    worker, event = self._candidates.pop(ended.candidate)
                if worker is not None:
                    worker.process.end = ended
                event.set()
        except (ProtocolError, OSError, ValueError):
            self._lost = True
            self._ready.set()
            with self._lock:  # its candidates die with it, and nobody is left to tell how
                for _, event in self._candidates.values():
                    event.set()
