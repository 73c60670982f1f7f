"""The host compiler: found, named, and run with a deadline and limits.

Covered: time, memory, size of files written, size of what it says; its whole process group dies with
it. Not covered: what it reads; files of a submission may only include each other and system headers
(see `refusals.py`).
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cuda_gym.errors import CandidateTimeout, MissingTool
from cuda_gym.judge.toolchains.build_cache import cache_root

__all__ = ["CHECKING_FLAGS", "FLAGS", "Compiler", "cpu_identity", "find_compiler"]

FLAGS = (
    "-std=gnu++17",
    "-O3",
    # A failed assert in a kernel must stop it, whatever the compiler takes for granted.
    "-UNDEBUG",
    "-march=native",
    "-fPIC",
    # Never -ffast-math: softmax needs its infinities.
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fno-semantic-interposition",
    # CUDA code reads eight halves through a uint4; nvcc's device code allows it.
    "-fno-strict-aliasing",
)
CHECKING_FLAGS = (
    *(flag for flag in FLAGS if flag != "-O3"),
    "-O1",
    "-DCUDA_ON_CPU_CHECKING=1",
    # Lines, and who was inlined where; no variables.
    "-g1",
    "-gdwarf-4",
    # One thread runs everything: a plain flag guards the variables inside functions.
    "-fno-threadsafe-statics",
)
"""How the checking build is compiled; the kernels are instrumented besides."""
_MEMORY_KIB = 4 << 20
_FILE_BLOCKS = 512 << 10
_OUTPUT_BYTES = 256 << 10
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
        limits = ["/bin/sh", "-c", _LIMITED, "sh", str(_MEMORY_KIB), str(_FILE_BLOCKS)]
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
                status = process.wait(deadline_s)
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
        if status != 0 and os.strerror(errno.ENOSPC) in text:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
        return status, text


def find_compiler() -> Compiler:
    """The compiler to use: `CUDA_GYM_CXX`, else g++, clang++, or the one in the package `ziglang`.

    Raises:
        MissingTool: there is none, with how to get one.
    """
    chosen = os.environ.get("CUDA_GYM_CXX", "").split()
    if chosen:
        path = shutil.which(chosen[0])
        if path is None:
            raise MissingTool(
                f"CUDA_GYM_CXX names {chosen[0]!r}, which is no program on PATH. "
                "Correct it, or unset it to have a compiler found."
            )
        return _described((path, *chosen[1:]))
    for name in ("g++", "clang++"):
        if path := shutil.which(name):
            return _described((path,))
    if importlib.util.find_spec("ziglang"):
        return _described((sys.executable, "-m", "ziglang", "c++"))
    raise MissingTool(
        "There is no C++ compiler: neither g++ nor clang++ is on PATH. "
        "`apt install g++` or `pip install ziglang` provides one; CUDA_GYM_CXX may name another."
    )


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "TMPDIR": str(folder),
        "HOME": str(folder),
        "ZIG_GLOBAL_CACHE_DIR": str(cache_root().absolute() / "zig"),
    }


@lru_cache
def _described(command: tuple[str, ...]) -> Compiler:
    try:
        shown = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, timeout=60, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingTool(
            f"{' '.join(command)} does not run: {error}. CUDA_GYM_CXX may name another compiler."
        ) from error
    first = shown.splitlines()[0] if shown else ""
    words = [word for word in first.split() if word[:1].isdigit()]
    kind = "clang++" if "clang" in first else "g++"
    return Compiler(
        command=command,
        version=f"{kind} {words[-1] if words else 'of unknown version'}",
        identity=hashlib.sha256("\0".join((*command, shown)).encode()).hexdigest(),
    )


@lru_cache
def cpu_identity() -> str:
    """The processor's model and abilities: `-march=native` compiles for exactly these."""
    kept = ("model name", "flags", "Features", "CPU implementer", "CPU part")
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    first, _, _ = text.partition("\n\n")
    return "\n".join(line for line in first.splitlines() if line.startswith(kept))
