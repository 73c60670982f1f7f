"""The judge's end of a candidate that runs under a tool: compute-sanitizer, Nsight Compute.

    tool ── python -m ...tool_candidate      starts by exec, so it is spawned, not forked
      └─ log file                            read once both have ended

Covered: a tool that is missing, fails or hangs (`ToolFailed`, with what it said); its whole process group
ends with it. The candidate calls back on a socket in a private folder, since a tool need not hand on
descriptors. Not covered: whether the log is true: the candidate has the same user as the tool.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cuda_gym.core.device import Device
from cuda_gym.judge.sandbox.channel import Channel, Drain
from cuda_gym.judge.sandbox.messages import (
    Ended,
)
from cuda_gym.judge.sandbox.processes import scrubbed_environment
from cuda_gym.judge.sandbox.tool_candidate import SOCKET_NAME
from cuda_gym.judge.sandbox.workers import CandidateWorker

__all__ = ["ToolFailed", "ToolRun"]

_MODULE = "cuda_gym.judge.sandbox.tool_candidate"
_MOST_LOG_BYTES = 8 << 20
_POLL_S = 0.05
_TOLD_CHARS = 300


class ToolFailed(Exception):
    """The tool did not do its work; the message says what it said.

    Args:
        message: Shortened.
        said: All of it.
    """

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said


class ToolRun:
    """One candidate under one tool, from its start on. Used by one thread at a time.

    Args:
        prefix: The words before the command, for the log file that they are given.
        device: Where the submission runs.
        lifetime_s: After which it ends by itself.
        variables: Of its environment.
        keeps_rights: Whether it keeps the capabilities of its user.
    """

    def __init__(
        self,
        prefix: Callable[[Path], Sequence[str]],
        *,
        device: Device,
        lifetime_s: int,
        variables: Mapping[str, str] | None = None,
        keeps_rights: bool = False,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="cuda_gym-", ignore_cleanup_errors=True)
        root = Path(self._folder.name)
        self._log = root / "tool.txt"
        self._listener = _listen(root)
        self._device = device
        self._worker: CandidateWorker | None = None
        self._ended = threading.Event()
        rights = "keep" if keeps_rights else "drop"
        arguments = ["-m", _MODULE, str(root), str(lifetime_s), rights]
        words = prefix(self._log)
        self._name = Path(words[0]).name
        reading, writing = os.pipe2(os.O_CLOEXEC)
        self._printed = Drain(reading)
        # The worker closes its own: a tool that then writes a word would die of it, without its log.
        self._reading = os.dup(reading)
        try:
            self._process = subprocess.Popen(
                [*words, sys.executable, *arguments],
                env=scrubbed_environment(**{"TMPDIR": str(root), **(variables or {})}),
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                start_new_session=True,
            )
        except OSError as error:
            self._tidy_up()
            raise ToolFailed(f"{words[0]} does not start: {error.strerror}.") from error
        finally:
            os.close(writing)

    def candidate(self, *, deadline_s: float) -> CandidateWorker:
        """The candidate, as soon as it calls.

        Raises:
            ToolFailed: it never did.
            WorkerLost: it is gone at once.
        """
        if self._worker is None:
            end = self._accept(time.monotonic() + deadline_s)
            # The tool must be able to speak with it at any time, so it is never frozen.
            self._worker = CandidateWorker(
                Channel(end), self._printed, self._ended, _pidfd_of_peer(end), freezes=False
            )
            threading.Thread(target=self._watch, name=f"{self._name} watcher", daemon=True).start()
            self._worker.will_open(str(self._device))
            self._worker.wait_until_open()
        return self._worker

    def finish(self, *, deadline_s: float) -> str:
        """Let the candidate leave and the tool write; what it wrote. Safe after a crash.

        Raises:
            ToolFailed: it did not end in time, and wrote nothing.
        """
        in_time = self._worker is not None and self._worker.dismiss(deadline_s=deadline_s)
        self.kill()
        said = self._said()
        if not in_time and not said.strip():
            raise ToolFailed(f"{self._name} did not end within {deadline_s:g} s.")
        return said

    def kill(self) -> None:
        """End the tool and the candidate, now."""
        if self._worker is not None:
            self._worker.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """End both, and remove the log; safe to call twice."""
        self.kill()
        self._tidy_up()

    def _accept(self, deadline: float) -> socket.socket:
        while time.monotonic() < deadline and self._process.poll() is None:
            waiting: list[Any] = [self._listener]
            waiting += [] if self._printed.closed else [self._printed]
            readable, _, _ = select.select(waiting, [], [], _POLL_S)
            if self._printed in readable:
                self._printed.read()
            if self._listener in readable:
                end, _ = self._listener.accept()
                return end
        code = self._process.poll()
        how = "did not start the submission in time" if code is None else f"ended with code {code}"
        self.kill()
        if not self._printed.closed:
            self._printed.read()
        said = self._said().strip() or self._printed.text.strip()
        told = f": {said[-_TOLD_CHARS:]}" if said else ""
        raise ToolFailed(f"{self._name} {how}{told}.", said)

    def _watch(self) -> None:
        """Tell the worker how it ended: the tool ends as its program did."""
        code = self._process.wait()
        if self._worker is not None:
            self._worker.process.end = Ended(
                candidate=0,
                exit_code=None if code < 0 else code,
                signal=-code if code < 0 else None,
            )
        self._ended.set()

    def _said(self) -> str:
        try:
            with self._log.open("rb") as file:
                return file.read(_MOST_LOG_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    def _tidy_up(self) -> None:
        self._listener.close()
        self._printed.close()
        if self._reading >= 0:
            os.close(self._reading)
            self._reading = -1
        self._folder.cleanup()


def _listen(folder: Path) -> socket.socket:
    """A socket in the folder, bound through a descriptor: a path of its own may be too long."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        listener.bind(f"/proc/self/fd/{descriptor}/{SOCKET_NAME}")
    finally:
        os.close(descriptor)
    listener.listen(1)
    return listener


def _pidfd_of_peer(end: socket.socket) -> int:
    credentials = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, _, _ = struct.unpack("3i", credentials)
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        raise ToolFailed(f"The submission's process is gone: {error.strerror}.") from error
