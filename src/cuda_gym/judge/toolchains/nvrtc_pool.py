"""Processes that compile with NVRTC, kept warm: to start one takes longer than a build.

Covered: a deadline ends the process that misses it, and so does a compiler that crashes; several builds
at once have a process each; a fork of this process starts its own. Not covered: anything between the
requests of one process (`nvrtc_process`).
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from cuda_gym.errors import CandidateTimeout, MissingTool

__all__ = ["NvrtcCannot", "Said", "compile_units", "nvrtc_version", "warm"]


class NvrtcCannot(Exception):
    """NVRTC is the wrong compiler for these sources; nvcc is to say what is right or wrong."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What NVRTC made of one file."""

    status: int
    """0 is success."""
    log: str


def compile_units(
    folder: Path,
    units: Sequence[str],
    *,
    options: Sequence[str],
    headers: Mapping[str, str],
    deadline_s: float,
) -> list[Said]:
    """Compile files of a folder; each gets a cubin beside it, `.cubin` behind its name.

    Args:
        folder: Where the files are; what they include in quotes is found as by nvcc.
        units: Their paths in it.
        options: For all of them.
        headers: Texts that they may include, by name.
        deadline_s: How long all of it may take.

    Raises:
        CandidateTimeout: it took longer.
        NvrtcCannot: the compiler crashed.
        MissingTool: there is no NVRTC.
    """
    request = {
        "folder": str(folder),
        "units": list(units),
        "options": list(options),
        "headers": dict(headers),
    }
    process = _take()
    try:
        answer = process.ask(request, deadline_s)
    except TimeoutError:
        raise CandidateTimeout(
            f"Compiling took longer than {deadline_s:.0f} s and was stopped. "
            "Simplify the templates or split the file."
        ) from None
    except EOFError:
        raise NvrtcCannot("NVRTC crashed, or had no memory left") from None
    said = [Said(status=unit["status"], log=unit["log"]) for unit in answer]
    if any("out of memory" in one.log for one in said):
        process.end()
    else:
        _give_back(process)
    return said


def nvrtc_version() -> tuple[int, int]:
    """Major and minor version; asked once, of a process that is kept for the first build.

    Raises:
        MissingTool: there is no NVRTC here, with how to get it.
    """
    found = _version()
    if isinstance(found, str):
        raise MissingTool(found)
    return found


def warm() -> bool:
    """Have a process ready for the first build; whether there is an NVRTC at all."""
    if isinstance(_version(), str):
        return False
    if not _idle:
        _give_back(_take())
    return True


@lru_cache
def _version() -> tuple[int, int] | str:
    """The version, or why there is none: what is missing stays so while this process lives."""
    try:
        process = _take()
    except MissingTool as missing:
        return str(missing)
    _give_back(process)
    return process.version


_PROGRAM = Path(__file__).with_name("nvrtc_process.py")
_START_S = 60.0
_MOST_IDLE = 4
_KEPT = ("PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX", "TMPDIR")
_REMEDY = "`pip install cuda-bindings nvidia-cuda-nvrtc`, or install NVIDIA's CUDA toolkit."

_lock = threading.Lock()
_idle: list[_Process] = []


class _Process:
    """One compiler; who holds it is alone with it."""

    def __init__(self) -> None:
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        # NVRTC asks the driver about itself where it can: there is no GPU for a compiler to open.
        environment["CUDA_VISIBLE_DEVICES"] = ""
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
        try:
            greeting = self._answer(time.monotonic() + _START_S)
        except (TimeoutError, EOFError) as error:
            raise MissingTool(
                f"The process for NVRTC does not start. Reinstall it: {_REMEDY}"
            ) from error
        if "missing" in greeting:
            self.end()
            raise MissingTool(f"There is no NVRTC: {greeting['missing']}. Get it with {_REMEDY}")
        major, minor = greeting["version"]
        self.version = (int(major), int(minor))

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Any, deadline_s: float) -> Any:
        """The answer to a request; whatever goes wrong ends the process.

        Raises:
            TimeoutError: the deadline has passed.
            EOFError: the process has died.
        """
        deadline = time.monotonic() + deadline_s
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self.end()
            raise EOFError from None
        return self._answer(deadline)

    def end(self) -> None:
        """Stop it now, with whatever it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._close()

    def forget(self) -> None:
        """Let it be: it belongs to the process that this one was forked from."""
        self._process.returncode = 0
        self._close()

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()

    def _answer(self, deadline: float) -> Any:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        received = bytearray()
        try:
            while not received.endswith(b"\n"):
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                    raise TimeoutError
                if not (part := os.read(descriptor, 1 << 16)):
                    raise EOFError
                received += part
        except BaseException:
            self.end()
            raise
        return json.loads(received)


def _take() -> _Process:
    """A process that waits for work, started where none does."""
    while True:
        with _lock:
            process = _idle.pop() if _idle else None
        if process is None:
            return _Process()
        if process.is_alive:
            return process
        process.end()


def _give_back(process: _Process) -> None:
    with _lock:
        if len(_idle) < _MOST_IDLE:
            _idle.append(process)
            return
    process.end()


def _end_all() -> None:
    while _idle:
        _idle.pop().end()


def _forget_all() -> None:
    """In a fork: the processes are the parent's, and so may be the lock."""
    global _lock
    _lock = threading.Lock()
    while _idle:
        _idle.pop().forget()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_forget_all)
