"""From rewritten files to one shared library, by the host compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cuda_gym.core.findings import Diagnostic
from cuda_gym.judge.toolchains.builds import refusal
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.compile_steps import Steps
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import CHECKING_FLAGS, FLAGS, poison_flags
from cuda_gym.judge.toolchains.cuda_on_cpu.diagnostics import parse_diagnostics
from cuda_gym.judge.toolchains.cuda_on_cpu.precompiled_header import source_prefix
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import Program
from cuda_gym.judge.toolchains.cuda_source import Rewritten

__all__ = ["build_library", "compile_flags", "framed", "judged", "link_flags"]

_HEADERS = str(Path(__file__).parent / "include")
_WARNINGS = ("-Wreturn-type", "-Wuninitialized", "-Wno-unknown-pragmas", "-Wno-attributes")
_ONLY_GCC = (
    "-fno-diagnostics-show-caret",
    "-fno-diagnostics-show-option",
    "-fdiagnostics-column-unit=byte",
    "-fdiagnostics-color=never",
    "-fmax-errors=20",
)
# Only the calls that the compiler inserts are used, and they are ours (runtime_library/checking): the
# sanitizers' own libraries are never linked. Sources are not told, lest they behave while they are watched.
_INSTRUMENTED = ("-fsanitize=thread,bounds,alignment", "-U__SANITIZE_THREAD__")
_INSTRUMENTED_GCC = (
    *("--param", "tsan-distinguish-volatile=1"),
    *("--param", "tsan-instrument-func-entry-exit=0"),
)
_INSTRUMENTED_CLANG = (
    *("-mllvm", "-tsan-distinguish-volatile=1"),
    *("-mllvm", "-tsan-instrument-func-entry-exit=0"),
)
_COPIES = ("memcpy", "memmove", "memset")
_HEAP = ("malloc", "free", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm")
_ONLY_CLANG = ("-ferror-limit=20", "-Wno-invalid-constexpr", "-Wno-pass-failed")


def build_library(
    compiler: Compiler,
    program: Program,
    library: Path,
    runtime: Path,
    deadline: float,
    *,
    checking: bool = False,
) -> tuple[Diagnostic, ...]:
    """Compile every `.cu` file and link them; the warnings.

    Args:
        compiler: What to compile with.
        program: All files.
        library: Where the library is written; its folder is used for everything on the way.
        runtime: The runtime library to link with; precompiled headers may lie beside it.
        deadline: In the time of `time.monotonic`.
        checking: Whether to instrument every access.

    Raises:
        CompileError: with the diagnostics.
        CandidateTimeout: the deadline has passed.
        OSError: the folder cannot be written.
    """
    folder = library.parent
    _write(program, folder)
    units = [str(folder / path) for path in program.files if path.endswith(".cu")]
    flags = compile_flags(compiler, checking=checking, runtime=runtime)
    link = [
        *link_flags(checking=checking),
        "-shared",
        "-Wl,-rpath,$ORIGIN",
        "-Wl,--no-undefined",
        "-o",
        str(library),
    ]
    link += [str(runtime), "-lm"]

    steps = Steps(compiler=compiler, folder=folder, deadline=deadline)
    if len(units) == 1 and not checking:
        # In one step: starting the compiler once more costs 30 ms.
        results = [steps.run("build", [*flags, *units, "-x", "none", *link])]
    else:
        objects = [f"{unit}.o" for unit in units]
        commands = [[*flags, "-c", a, "-o", b] for a, b in zip(units, objects, strict=True)]
        results = steps.compile_and_link(commands, [*objects, *link])
    return judged(results, program.files, folder)


def compile_flags(
    compiler: Compiler, *, checking: bool = False, runtime: Path | None = None
) -> list[str]:
    """How CUDA C++ is compiled for the host, with the precompiled headers beside a runtime library."""
    how = [*FLAGS, *poison_flags(compiler)]
    if checking:
        only = _INSTRUMENTED_GCC if compiler.is_gcc else _INSTRUMENTED_CLANG
        how = [*CHECKING_FLAGS, *_INSTRUMENTED, *only]
    how += [*_WARNINGS, *(_ONLY_GCC if compiler.is_gcc else _ONLY_CLANG)]
    folders = [_HEADERS] if runtime is None else [str(runtime.parent), _HEADERS]
    return [*how, *(part for folder in folders for part in ("-isystem", folder)), "-x", "c++"]


def link_flags(*, checking: bool) -> list[str]:
    """What the linker is told besides: the runtime sees what the C library copies and allocates."""
    return [f"-Wl,--wrap={name}" for name in (*_COPIES, *_HEAP)] if checking else []


def judged(
    results: Sequence[tuple[int, str]], files: Mapping[str, Rewritten], folder: Path
) -> tuple[Diagnostic, ...]:
    """The warnings of all steps; raises where one has failed."""
    output = "\n".join(said for _, said in results)
    diagnostics = parse_diagnostics(output, files)
    if not any(status for status, _ in results):
        return diagnostics
    raise refusal(output, diagnostics, folder)


def framed(text: str, name: str, *, keeps_index: bool, is_source: bool) -> str:
    """A rewritten file as the compiler reads it: under its own name, CUDA's headers in front."""
    prefix = source_prefix(keeps_index=keeps_index) if is_source else ""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'{prefix}#line 1 "{quoted}"\n{text}\n'


def _write(program: Program, folder: Path) -> None:
    for path, rewritten in program.files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        is_source = path.endswith(".cu")
        text = framed(rewritten.text, path, keeps_index=program.keeps_index, is_source=is_source)
        target.write_text(text, encoding="utf-8")
