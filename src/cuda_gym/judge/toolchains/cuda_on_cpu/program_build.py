"""From the files of a program to an executable, by the host compiler.

The files lie in a tree like their own, so that `#include "../common/x.h"` finds the rewritten header,
and each begins with a #line, so that messages, `__FILE__` and asserts name the real one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cuda_gym.core.findings import Diagnostic
from cuda_gym.errors import CompileError, UnsupportedOnDevice
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.compile_steps import Steps, build_cut_or_whole
from cuda_gym.judge.toolchains.cuda_on_cpu.native_build import (
    compile_flags,
    framed,
    judged,
    link_flags,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.program_files import ProgramFile
from cuda_gym.judge.toolchains.cuda_on_cpu.refusals import doubtful_places
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import Program, rewrite
from cuda_gym.judge.toolchains.cuda_source import Rewritten, Source

__all__ = ["ProgramSources", "build_executable"]

_OPENMP = re.compile(r"^[ \t]*#[ \t]*(?:include[ \t]*<omp\.h>|pragma[ \t]+omp\b)", re.MULTILINE)
_LARGE = 100_000
_CUDA = re.compile(
    r"<<<|\b(?:__global__|__device__|__host__|__shared__|__constant__|__managed__|__sync\w+|__shfl\w+"
    r"|__launch_bounds__|__noinline__|(?:thread|block)Idx|(?:block|grid)Dim|cooperative_groups)\b"
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\b[ \t]*"([^"\n]*\.\.[^"\n]*)"', re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class ProgramSources:
    """What a program is made of."""

    files: tuple[ProgramFile, ...]
    include: tuple[Path, ...] = ()
    """Absolute folders, in the order in which headers are looked for."""
    defines: tuple[str, ...] = ()
    """Macros, as `NAME` or `NAME=value`."""


def build_executable(
    compiler: Compiler,
    sources: ProgramSources,
    executable: Path,
    runtime: Path,
    deadline: float,
    *,
    checking: bool = False,
) -> tuple[Diagnostic, ...]:
    """Compile every source and link them; the warnings.

    Args:
        compiler: What to compile with.
        sources: The program.
        executable: Where it is written; its folder is used for everything on the way.
        runtime: The runtime library to link with; precompiled headers may lie beside it.
        deadline: In the time of `time.monotonic`.
        checking: Whether to instrument every access.

    Raises:
        CompileError: with the diagnostics.
        UnsupportedOnDevice: the compiler failed where a file names what this device has not.
        CandidateTimeout: the deadline has passed.
        OSError: the folder cannot be written.
    """
    texts = {file.name: file.text for file in sources.files if not _is_plain(file)}
    try:
        _, diagnostics = build_cut_or_whole(
            lambda cuts: rewrite(texts, is_submission=False, checking=checking, cuts=cuts),
            lambda program: _build(
                compiler, sources, program, executable, runtime, deadline, checking=checking
            ),
        )
    except CompileError as error:
        _blame_the_device(texts, error)
        raise
    return diagnostics


def _build(
    compiler: Compiler,
    sources: ProgramSources,
    program: Program,
    executable: Path,
    runtime: Path,
    deadline: float,
    *,
    checking: bool,
) -> tuple[Diagnostic, ...]:
    folder = executable.parent
    rewritten = dict(program.files)
    for file in sources.files:
        if _is_plain(file):
            rewritten[file.name] = _unchanged(file)
        _write(file, rewritten[file.name], folder, keeps_index=program.keeps_index)

    units = [file for file in sources.files if file.is_source]
    flags = compile_flags(compiler, checking=checking, runtime=runtime)
    commands = [_compile(compiler, sources, file, folder, flags) for file in units]
    link = [
        *(f"{_place(file, folder)}.o" for file in units),
        *link_flags(checking=checking),
        *("-Wl,-rpath,$ORIGIN", "-o", str(executable)),
        # Also where nothing of it is called: it tells of faults and deadlines.
        *("-Wl,--no-as-needed", str(runtime)),
        *("-pthread", "-lm", "-ldl"),
        *_openmp(compiler, sources),
    ]
    steps = Steps(compiler=compiler, folder=folder, deadline=deadline)
    results = steps.compile_and_link(commands, link)
    return judged(results, rewritten, folder)


def _blame_the_device(texts: Mapping[str, str], error: CompileError) -> None:
    """Say so where the compiler failed in a file that names what this device has not."""
    failed = {diagnostic.file for diagnostic in error.diagnostics}
    doubtful = doubtful_places([Source(name, text) for name, text in texts.items()])
    missing = [d for d in doubtful if d.file in failed or not error.diagnostics]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        fact = f"{missing[0].file}:{missing[0].line}: {missing[0].message}{more}"
        raise UnsupportedOnDevice(fact, (*missing, *error.diagnostics)) from error


def _is_plain(file: ProgramFile) -> bool:
    """Whether it is C or C++, which no rewriting has to touch.

    A large header of some library is not worth the seconds that it takes to read it for kernels.
    """
    if file.is_source:
        return not file.is_cuda
    return len(file.text) > _LARGE and _CUDA.search(file.text) is None


def _unchanged(file: ProgramFile) -> Rewritten:
    source = Source(file.name, file.text)
    return Rewritten(source=source, text=file.text, pieces=((0, 0, True),))


def _place(file: ProgramFile, folder: Path) -> Path:
    return _mirrored(file.path, folder)


def _mirrored(path: Path, folder: Path) -> Path:
    return folder / "files" / path.relative_to(path.anchor)


def _write(file: ProgramFile, rewritten: Rewritten, folder: Path, *, keeps_index: bool) -> None:
    target = _place(file, folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    for name in _INCLUDE.findall(file.text):
        # "../other/../x.h" goes through a folder that must be there, though nothing of it is read.
        for above in Path(name).parents:
            passed = Path(os.path.abspath(file.path.parent / above))  # noqa: PTH100 -- links are kept
            _mirrored(passed, folder).mkdir(parents=True, exist_ok=True)
    text = framed(
        rewritten.text, file.name, keeps_index=keeps_index, is_source=file.path.suffix == ".cu"
    )
    target.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")


def _compile(
    compiler: Compiler,
    sources: ProgramSources,
    file: ProgramFile,
    folder: Path,
    flags: list[str],
) -> list[str]:
    flags = list(flags)
    if file.path.suffix == ".c":
        flags = [*(flag for flag in flags[:-1] if not flag.startswith("-std=")), "c"]
    if not file.is_cuda:
        flags.append("-DCUDA_ON_CPU_HOST_FILE")
    for place in sources.include:
        flags += ["-I", str(_mirrored(place, folder))]
    # What no #include names in so many words lies where it always has.
    for place in (*sources.include, file.path.parent):
        flags += ["-idirafter", str(place)]
    flags += [f"-D{define}" for define in sources.defines]
    flags += _openmp(compiler, sources)
    place = _place(file, folder)
    return [*flags, "-c", str(place), "-o", f"{place}.o"]


def _openmp(compiler: Compiler, sources: ProgramSources) -> list[str]:
    """OpenMP for host code, where a file asks for it; clang may come without its library."""
    asks = compiler.is_gcc and any(_OPENMP.search(file.text) for file in sources.files)
    return ["-fopenmp"] if asks else []
