"""The `cpu` device: a submission's CUDA C++ compiled for the host.

    rewrite   what C++ cannot take becomes C++ (cuda_on_cpu/rewrite.py), or is refused
    compile   each `kernels/*.cu` by the host compiler, against our own CUDA headers
    link      one library, beside a copy of the runtime library it runs on
    cache     by the content of everything that decides the result

Covered: compile errors in the agent's own lines, deadlines, limits on the compiler, a cache shared by
many processes. Not covered: running the library; that is the candidate's business.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

from cuda_gym.core import Build, Diagnostic, KernelResources, Severity, Submission
from cuda_gym.errors import CompileError, MissingTool
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import (
    FLAGS,
    Compiler,
    cpu_identity,
    find_compiler,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.diagnostics import parse_diagnostics
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import Program, rewrite
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import RUNTIME_NAME

__all__ = ["CpuToolchain"]

_HERE = Path(__file__).parent / "cuda_on_cpu"
_LIBRARY_NAME = "kernels.so"
_HEADER_SUFFIXES = (".cuh", ".h", ".hpp", ".hh", ".inl", ".inc")
_QUIET = ("-fno-diagnostics-show-caret", "-fdiagnostics-color=never")
_QUIET_GCC = ("-fno-diagnostics-show-option", "-fdiagnostics-column-unit=byte")
_WARNINGS = ("-Wreturn-type", "-Wuninitialized", "-Wno-unknown-pragmas", "-Wno-attributes")
# Far above any kernel that was ever written by hand; below what could keep the rewriting busy.
_MAX_CHARACTERS = 250_000
_MAX_CONSTRUCTS = 1_000
_RUNTIME_DEADLINE_S = 120.0


class CpuToolchain:
    """Compiles CUDA C++ for the processor of this machine."""

    def __init__(self, cache: BuildCache | None = None) -> None:
        self._cache = cache or BuildCache()

    @property
    def name(self) -> str:
        """The compiler, and the version of our part: `g++ 12.2.0 (cuda_on_cpu 1a2b3c4d)`."""
        return f"{find_compiler().version} (cuda_on_cpu {_own_version()[:8]})"

    def warm(self) -> None:
        """Build the runtime library ahead of time, if this machine does not have it yet.

        Raises:
            MissingTool: no compiler, or one that cannot build it.
            StorageError: the cache cannot be written.
        """
        self._runtime_library(find_compiler())

    def build(self, submission: Submission, *, deadline_s: float = 60.0) -> Build:
        """Compile every `kernels/*.cu` into one library, or find it in the cache.

        Raises:
            CompileError: the compiler said no; carries the diagnostics.
            UnsupportedOnDevice: right CUDA that this device cannot run; `file:line` in each diagnostic.
            CandidateTimeout: the compiler was stopped at the deadline.
            MissingTool: no compiler.
            StorageError: the cache cannot be written.
        """
        started = time.monotonic()
        files = _kernel_files(submission)
        compiler = find_compiler()
        key = _key(compiler, files)
        found = self._cache.find(key)
        is_cached = found is not None
        if found is None:
            found = self._compile(compiler, key, files, started + deadline_s)
        entry, facts = found
        return Build(
            key=key,
            library=str(entry / _LIBRARY_NAME),
            toolchain=self.name,
            build_s=time.monotonic() - started,
            cached=is_cached,
            kernels=tuple(KernelResources(**kernel) for kernel in facts["kernels"]),
            diagnostics=tuple(_diagnostic(plain) for plain in facts["diagnostics"]),
        )

    def _compile(
        self, compiler: Compiler, key: str, files: Mapping[str, str], deadline: float
    ) -> tuple[Path, dict[str, Any]]:
        program = rewrite(files)
        runtime = self._runtime_library(compiler)
        with self._cache.workspace() as folder:
            _write(program, folder)
            output = _compile_and_link(compiler, program, folder, runtime, deadline)
            diagnostics = parse_diagnostics(output, program.files)
            facts = {
                "kernels": [
                    {"name": name, "mode": "fibers" if mode.value == "fibers" else "loop"}
                    for name, mode in program.kernels.items()
                ],
                "diagnostics": [_plain(diagnostic) for diagnostic in diagnostics],
            }
            built = {_LIBRARY_NAME: folder / _LIBRARY_NAME, RUNTIME_NAME: runtime}
            return self._cache.publish(key, built, facts), facts

    def _runtime_library(self, compiler: Compiler) -> Path:
        """The runtime library in the cache, built where it is not there."""
        key = _digest("runtime", compiler.identity, cpu_identity(), _own_version(), *FLAGS)
        found = self._cache.find(key)
        if found is not None:
            return found[0] / RUNTIME_NAME
        sources = sorted(str(path) for path in (_HERE / "runtime_library").glob("*.cpp"))
        arguments = [
            *FLAGS,
            "-shared",
            "-pthread",
            f"-Wl,-soname,{RUNTIME_NAME}",
            "-o",
            RUNTIME_NAME,
        ]
        with self._cache.workspace() as folder:
            status, output = compiler.run(
                [*arguments, *sources], folder=folder, deadline_s=_RUNTIME_DEADLINE_S
            )
            if status != 0:
                raise MissingTool(
                    f"{compiler.version} cannot build the runtime of the cpu device: "
                    f"{output.strip()[:500]}. CUDA_GYM_CXX may name another compiler."
                )
            files = {RUNTIME_NAME: folder / RUNTIME_NAME}
            return self._cache.publish(key, files, {}) / RUNTIME_NAME


def _kernel_files(submission: Submission) -> dict[str, str]:
    """The `.cu` files under `kernels/` and the headers they may include."""
    files = {
        path: text
        for path, text in submission.files
        if path.startswith("kernels/") and path.endswith((".cu", *_HEADER_SUFFIXES))
    }
    if not any(path.endswith(".cu") for path in files):
        raise CompileError(
            "There is no kernels/*.cu in the submission, so there is nothing to compile. "
            'Write a CUDA C++ file with an extern "C" launcher, such as kernels/my_kernel.cu.'
        )
    for path, text in files.items():
        _check_text(path, text)
    size = sum(map(len, files.values()))
    constructs = sum(text.count("__global__") + text.count("<<<") for text in files.values())
    if size > _MAX_CHARACTERS or constructs > _MAX_CONSTRUCTS:
        raise CompileError(
            f"The files under kernels/ have {size:,} characters and {constructs:,} kernels and "
            f"launches; {_MAX_CHARACTERS:,} and {_MAX_CONSTRUCTS:,} are the most. Leave out what "
            "the task does not need."
        )
    return files


def _check_text(path: str, text: str) -> None:
    if not path.isprintable() or any(c in path for c in "\"\\:'"):
        raise CompileError(
            f"{path!r} is no name for a source file; use letters, digits, '_' and '-'."
        )
    for fact, is_bad in (
        ("a zero byte", "\0" in text),
        ("bytes that are no UTF-8", any("\ud800" <= c <= "\udfff" for c in text)),
    ):
        if is_bad:
            diagnostic = Diagnostic(
                severity=Severity.ERROR, message=f"{fact}; sources are UTF-8 text", file=path
            )
            raise CompileError(f"{path} contains {fact}; sources are UTF-8 text.", (diagnostic,))


def _write(program: Program, folder: Path) -> None:
    for path, rewritten in program.files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        prefix = ""
        if path.endswith(".cu"):
            keeps_index = f"#define CUDA_ON_CPU_KEEPS_INDEX {int(program.keeps_index)}\n"
            prefix = f"{keeps_index}#include <cuda_runtime.h>\n"
        target.write_text(f'{prefix}#line 1 "{path}"\n{rewritten.text}\n', encoding="utf-8")


def _compile_and_link(
    compiler: Compiler, program: Program, folder: Path, runtime: Path, deadline: float
) -> str:
    """Compile all files at once, then link them; what the compiler said.

    Raises:
        CompileError: with the diagnostics.
    """
    units = [path for path in program.files if path.endswith(".cu")]
    flags = [
        *FLAGS,
        *_QUIET,
        *_WARNINGS,
        "-fmax-errors=20" if compiler.is_gcc else "-ferror-limit=20",
    ]
    flags += [
        *(_QUIET_GCC if compiler.is_gcc else ()),
        "-isystem",
        str(_HERE / "include"),
        "-x",
        "c++",
    ]
    link = [
        "-shared",
        "-Wl,-rpath,$ORIGIN",
        "-Wl,--no-undefined",
        "-o",
        str(folder / _LIBRARY_NAME),
    ]

    def run(arguments: list[str], inside: str) -> tuple[int, str]:
        place = folder / inside
        place.mkdir()
        left_s = max(deadline - time.monotonic(), 0.01)
        return compiler.run(arguments, folder=place, deadline_s=left_s)

    if len(units) == 1:
        source = str(folder / units[0])
        results = [run([*flags, source, "-x", "none", *link, str(runtime), "-lm"], "all")]
    else:
        objects = [str(folder / f"{number}.o") for number in range(len(units))]
        with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
            compiled = pool.map(
                lambda item: run(
                    [*flags, "-c", str(folder / units[item]), "-o", objects[item]], f"{item}"
                ),
                range(len(units)),
            )
            results = list(compiled)
        if all(status == 0 for status, _ in results):
            results.append(run([*objects, *link, str(runtime), "-lm"], "all"))
    output = "\n".join(said for _, said in results)
    if any(status != 0 for status, _ in results):
        raise _compile_error(output, program, folder)
    return output


def _compile_error(output: str, program: Program, folder: Path) -> CompileError:
    diagnostics = parse_diagnostics(output, program.files)
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    if not errors:
        said = output.replace(str(folder), "").strip()[-400:] or "it said nothing"
        return CompileError(
            f"The compiler failed without an error in the sources: {said}", diagnostics
        )
    more = f" ({len(errors)} errors in all)" if len(errors) > 1 else ""
    return CompileError(f"{errors[0]}{more}", diagnostics)


def _key(compiler: Compiler, files: Mapping[str, str]) -> str:
    parts = [part for path in sorted(files) for part in (path, files[path])]
    return _digest("kernels", compiler.identity, cpu_identity(), _own_version(), *FLAGS, *parts)


@lru_cache
def _own_version() -> str:
    """Content hash of everything of ours that decides how a build comes out."""
    paths = [path for path in sorted(_HERE.rglob("*")) if path.suffix in (".py", ".h", ".cpp")]
    texts = [
        part for path in (*paths, Path(__file__)) for part in (path.name, path.read_text("utf-8"))
    ]
    return _digest(*texts)


def _digest(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()[:32]


def _plain(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "file": diagnostic.file,
        "line": diagnostic.line,
        "column": diagnostic.column,
    }


def _diagnostic(plain: Mapping[str, Any]) -> Diagnostic:
    return Diagnostic(**{**plain, "severity": Severity(plain["severity"])})
