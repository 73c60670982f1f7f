"""The host compiler: which one there is, and how it compiles kernels."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.compiler import Compiler

__all__ = ["CHECKING_FLAGS", "FLAGS", "cpu_identity", "find_compiler", "poison_flags"]

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


def poison_flags(compiler: Compiler) -> tuple[str, ...]:
    """Whatever a variable is not given a value holds no plausible one: -1.7e38 by GCC, NaN by clang.

    Else a sum that starts from anything starts from zero, for the compiler is free to think so. What is
    written before it is read costs nothing: the compiler leaves the poison out.
    """
    oldest = 12 if compiler.is_gcc else 8
    major = compiler.version.split()[-1].partition(".")[0]
    is_known = major.isdigit() and int(major) >= oldest
    return ("-ftrivial-auto-var-init=pattern",) if is_known else ()


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
