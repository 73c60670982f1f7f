"""A compiler as a program: run with a deadline and limits.

Covered: time, memory, size of files written, size of what it says; its whole process group dies with
it. Not covered: what it reads; files of a submission may only include each other and system headers.
"""

from __future__ import annotations

import errno
import math
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cuda_gym.errors import CandidateTimeout
from cuda_gym.judge.toolchains.build_cache import cache_root

__all__ = ["Compiler"]

_FILE_BLOCKS = 512 << 10
_OUTPUT_BYTES = 256 << 10
_LITTLE_BYTES, _NO_BYTES = 64 << 20, 1 << 20
"""Of a disk: what a compiler that failed has freed again is less."""
# `ulimit` in a shell rather than a hook before exec: that is safe where other threads run.
_LIMITED = 'ulimit -v "$1"; ulimit -f "$2"; ulimit -c 0; shift 2; exec "$@"'


@dataclass(frozen=True, kw_only=True)
class Compiler:
    """A C++ compiler of this machine."""

    command: tuple[str, ...]
    version: str
    """Name and version: `g++ 12.2.0`."""
    identity: str
    """Changes where a build might come out differently."""
    memory_kib: int = 4 << 20
    """What each of its programs may take; large headers need more."""

    @property
    def is_gcc(self) -> bool:
        """Whether it takes the options of GCC that clang does not know."""
        return self.version.startswith("g++")

    def run(self, arguments: Sequence[str], *, folder: Path, deadline_s: float) -> tuple[int, str]:
        """Run it in a folder; its exit status and what it said, at most 256 KiB.

        Raises:
            CandidateTimeout: it was stopped at the deadline.
            OSError: it cannot be started, or has no room to write.
        """
        said = folder / "compiler.txt"
        limits = ["/bin/sh", "-c", _LIMITED, "sh", str(self.memory_kib), str(_FILE_BLOCKS)]
        with said.open("wb") as output:
            process = subprocess.Popen(
                [*limits, *self.command, *arguments],
                cwd=folder,
                env=_environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status = _wait(process, deadline_s)
            except subprocess.TimeoutExpired:
                raise CandidateTimeout(
                    f"Compiling took longer than {deadline_s:.0f} s and was stopped. "
                    "Simplify the templates or split the file."
                ) from None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        with said.open("rb") as file:
            text = file.read(_OUTPUT_BYTES).decode("utf-8", "replace")
        if status != 0 and _is_full(folder, is_told=os.strerror(errno.ENOSPC) in text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
        return status, text


def _is_full(folder: Path, *, is_told: bool) -> bool:
    """Whether a compiler has failed for want of room.

    Args:
        folder: Where it wrote.
        is_told: Whether it said so. A source may say so, too, and would void what is its own fault; a
            linker may say nothing.
    """
    return shutil.disk_usage(folder).free < (_LITTLE_BYTES if is_told else _NO_BYTES)


def _wait(process: subprocess.Popen[bytes], deadline_s: float) -> int:
    """The exit status as soon as there is one; `Popen.wait` looks only every 50 ms.

    Raises:
        TimeoutExpired: it still runs at the deadline.
    """
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # an old kernel, or too many open files
        return process.wait(deadline_s)
    try:
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        ended.poll(None if math.isinf(deadline_s) else deadline_s * 1000)
    finally:
        os.close(descriptor)
    return process.wait(0)


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "TMPDIR": str(folder),
        "HOME": str(folder),
        "ZIG_GLOBAL_CACHE_DIR": str(cache_root().absolute() / "zig"),
    }
