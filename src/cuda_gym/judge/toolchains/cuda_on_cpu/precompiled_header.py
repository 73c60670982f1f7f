"""CUDA's headers as GCC has read them once, instead of reading them for every file.

GCC takes `cuda_runtime.h.gch` of a folder in place of the header where compiler, flags and macros are
the same as when it was made, and reads the header otherwise. No text changes, and nothing but time
depends on it.

Covered: GCC; one that was not seen to take its own file does without. Not covered: clang, and kernels
that need `threadIdx` after a wait, which are compiled under another macro.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cuda_gym.judge.toolchains.cuda_on_cpu.compile_steps import Steps

__all__ = ["precompile", "source_prefix"]

_HEADER, _PRECOMPILED = "cuda_runtime.h", "cuda_runtime.h.gch"
_KEEPS_INDEX = "CUDA_ON_CPU_KEEPS_INDEX"
_INCLUDE = "#include <cuda_runtime.h>\n"


def source_prefix(*, keeps_index: bool) -> str:
    """What stands before every CUDA source for the compiler."""
    return f"#define {_KEEPS_INDEX} {int(keeps_index)}\n{_INCLUDE}"


def precompile(steps: Steps, flags: Sequence[str], *, keeps_index: bool) -> dict[str, Path]:
    """Files for one folder, with the headers as GCC reads them under some flags; none where it does not.

    Args:
        steps: The compiler, and the folder in which the file is made.
        flags: How kernels are compiled, up to the language.
        keeps_index: Whether it is for sources that do; one file cannot serve both.

    Raises:
        CandidateTimeout: the deadline of the steps has passed.
        OSError: the folder cannot be written.
    """
    if not steps.compiler.is_gcc:
        return {}
    made, passed_on = steps.folder / _PRECOMPILED, steps.folder / _HEADER
    header, source = steps.folder / "header.h", steps.folder / "source.cu"
    header.write_text(_INCLUDE, encoding="utf-8")
    # GCC takes it that one lies beside what it has precompiled, and reads it where that does not fit.
    passed_on.write_text("#include_next <cuda_runtime.h>\n", encoding="utf-8")
    source.write_text(source_prefix(keeps_index=keeps_index), encoding="utf-8")
    # Defined before the header begins: GCC compares what was with what is.
    defined = (f"-D{_KEEPS_INDEX}={int(keeps_index)}", "-x", "c++-header")
    status, _ = steps.run("header", [*flags, *defined, str(header), "-o", str(made)])
    if status:
        return {}
    taken = ("-Winvalid-pch", "-Werror=invalid-pch", "-fsyntax-only", "-x", "c++", str(source))
    status, _ = steps.run("taken", ["-isystem", str(steps.folder), *flags, *taken])
    return {} if status else {_HEADER: passed_on, _PRECOMPILED: made}
