"""Whole CUDA programs, with a `main`, on this machine's processor.

    build_program   .cu files, C and C++ files beside them, and their headers to an executable
    run_program     in a process group of its own, with a deadline; a fault is told in CUDA's words
    check_program   the same for a build that watches every access, and what it found

Covered: the cache, deadlines, endless output, processes left behind. Not covered: isolation; a program
runs with the rights of whoever runs it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from cuda_gym.core.findings import Diagnostic, MemoryFinding
from cuda_gym.core.plain import as_plain
from cuda_gym.judge.toolchains.build_cache import BuildCache, digest
from cuda_gym.judge.toolchains.builds import read_diagnostics
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.checking import read_findings
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import FLAGS, cpu_identity, find_compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.program_build import ProgramSources, build_executable
from cuda_gym.judge.toolchains.cuda_on_cpu.program_files import program_files
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import RUNTIME_NAME
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime_build import (
    own_version,
    runtime_library,
)

__all__ = [
    "DEADLINE_STATUS",
    "ProgramBuild",
    "ProgramRun",
    "build_program",
    "check_program",
    "run_program",
]

DEADLINE_STATUS = 124
"""Of a program that was stopped at its deadline; the number that `timeout` uses."""
_EXECUTABLE = "program"
_MAX_OUTPUT_BYTES = 8 << 20
# How long a program at its deadline may take to say what its kernel was doing.
_LAST_WORDS_S = 2.0


@dataclass(frozen=True, kw_only=True)
class ProgramBuild:
    """A program that has been built."""

    key: str
    """Content hash of everything that decides how it comes out."""
    executable: Path
    """In the cache, beside the runtime library that it finds there."""
    build_s: float
    cached: bool
    """Whether it was there already."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Warnings."""


@dataclass(frozen=True, kw_only=True)
class ProgramRun:
    """What a program did."""

    status: int
    """Its exit status; 128 and the signal's number where a signal ended it."""
    output: str
    """What it wrote to both of its streams, in that order; at most 8 MiB. Empty where they were not
    captured."""
    run_s: float
    has_missed_deadline: bool = False


def build_program(
    sources: Sequence[Path],
    *,
    include: Sequence[Path] = (),
    defines: Sequence[str] = (),
    checking: bool = False,
    cache: BuildCache | None = None,
    deadline_s: float = 60.0,
) -> ProgramBuild:
    """Compile `.cu`, `.cpp`, `.cc` and `.c` files into one executable, or find it in the cache.

    Args:
        sources: The files to compile; what they include is found by itself.
        include: Folders to look for headers in.
        defines: Macros, as `NAME` or `NAME=value`.
        checking: Whether to build it so that it looks for races and stray accesses while it runs.
        cache: Where builds are kept; by default the user's own.
        deadline_s: How long the compiler may take.

    Raises:
        CompileError: a file cannot be read, or the compiler said no; carries the diagnostics.
        UnsupportedOnDevice: right CUDA that this device cannot run.
        CandidateTimeout: the compiler was stopped at the deadline.
        MissingTool: no compiler.
        StorageError: the cache cannot be written.
    """
    started = time.monotonic()
    cache = cache or BuildCache()
    compiler = find_compiler()
    program = ProgramSources(
        files=program_files(sources, include),
        include=tuple(Path(os.path.abspath(folder)) for folder in include),  # noqa: PTH100 -- as files
        defines=tuple(defines),
    )
    key = _key(compiler, program, checking=checking)
    found = cache.find(key)
    is_cached = found is not None
    if found is None:
        found = _compile(cache, compiler, key, program, deadline_s, checking=checking)
    entry, facts = found
    return ProgramBuild(
        key=key,
        executable=entry / _EXECUTABLE,
        build_s=time.monotonic() - started,
        cached=is_cached,
        diagnostics=read_diagnostics(facts["diagnostics"]),
    )


def run_program(
    build: ProgramBuild,
    arguments: Sequence[str] = (),
    *,
    deadline_s: float | None = None,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    is_captured: bool = True,
) -> ProgramRun:
    """Run a program to its end, or to its deadline; everything that it started ends with it.

    Args:
        build: What to run.
        arguments: What it finds in `argv` behind its name.
        deadline_s: How long it may take; None is for ever.
        cwd: Where it runs; by default here.
        environment: In the place of this process's own.
        is_captured: Whether its output is returned; else it goes where that of this process goes.
    """
    started = time.monotonic()
    inherited = dict(os.environ if environment is None else environment)
    process = subprocess.Popen(
        [str(build.executable), *arguments],
        cwd=cwd,
        env={**inherited, "CUDA_ON_CPU_FAULTS_TO": "2"},
        stdin=subprocess.DEVNULL if is_captured else None,
        stdout=subprocess.PIPE if is_captured else None,
        stderr=subprocess.STDOUT if is_captured else None,
        start_new_session=True,
    )
    said = bytearray()
    reader = threading.Thread(target=_read, args=(process.stdout, said), daemon=True)
    reader.start()
    has_missed = False
    try:
        status = process.wait(deadline_s)
    except subprocess.TimeoutExpired:
        has_missed = True
        status = DEADLINE_STATUS
        _ask_for_last_words(process)
    finally:
        _end_group(process)
        reader.join(_LAST_WORDS_S)
        if process.stdout is not None and not reader.is_alive():
            process.stdout.close()
    output = bytes(said).decode("utf-8", "replace")
    if has_missed:
        output += f"The program was stopped after {deadline_s:g} s, its deadline.\n"
    return ProgramRun(
        status=status if status >= 0 else 128 - status,
        output=output,
        run_s=time.monotonic() - started,
        has_missed_deadline=has_missed,
    )


def check_program(
    build: ProgramBuild,
    arguments: Sequence[str] = (),
    *,
    deadline_s: float | None = None,
    cwd: Path | None = None,
    is_captured: bool = True,
) -> tuple[ProgramRun, tuple[MemoryFinding, ...]]:
    """Run a checking build; what it did, and what was found. Takes what `run_program` takes."""
    with tempfile.TemporaryDirectory(prefix="cuda_gym-") as folder:
        findings = Path(folder) / "findings"
        ran = run_program(
            build,
            arguments,
            deadline_s=deadline_s,
            cwd=cwd,
            environment={**os.environ, "CUDA_ON_CPU_FINDINGS": str(findings)},
            is_captured=is_captured,
        )
        text = findings.read_text("utf-8", "replace") if findings.exists() else ""
    return ran, read_findings(text, build.executable, is_own=_is_own)


def _is_own(file: str) -> bool:
    """Whether a file is neither ours nor the system's."""
    return not file.startswith((str(Path(__file__).parent / "cuda_on_cpu"), "/usr/"))


def _read(stream: IO[bytes] | None, said: bytearray) -> None:
    """Read to the end, so that the program never waits for a reader; keep what is not too much."""
    if stream is None:
        return
    with stream:
        while piece := stream.read1(1 << 16):  # type: ignore[attr-defined]
            said += piece[: _MAX_OUTPUT_BYTES - len(said)]


def _ask_for_last_words(process: subprocess.Popen[bytes]) -> None:
    """The runtime answers SIGQUIT with what the current block waits for, and ends."""
    process.send_signal(signal.SIGQUIT)
    try:
        process.wait(_LAST_WORDS_S)
    except subprocess.TimeoutExpired:
        return


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _compile(
    cache: BuildCache,
    compiler: Compiler,
    key: str,
    program: ProgramSources,
    deadline_s: float,
    *,
    checking: bool,
) -> tuple[Path, dict[str, Any]]:
    # Before the clock starts: that this machine has no runtime yet is not the program's fault.
    runtime = runtime_library(cache, compiler, checking=checking)
    deadline = time.monotonic() + deadline_s
    with cache.workspace() as folder:
        executable = folder / _EXECUTABLE
        diagnostics = build_executable(
            compiler, program, executable, runtime, deadline, checking=checking
        )
        facts = {"diagnostics": as_plain(diagnostics)}
        return cache.publish(key, {_EXECUTABLE: executable, RUNTIME_NAME: runtime}, facts), facts


def _key(compiler: Compiler, program: ProgramSources, *, checking: bool) -> str:
    files = [part for file in program.files for part in (str(file.path), file.name, file.text)]
    folders = [str(folder) for folder in program.include]
    what = "checking program" if checking else "program"
    own = (what, compiler.identity, cpu_identity(), own_version(), *FLAGS)
    return digest(*own, *files, "include", *folders, "define", *program.defines)
