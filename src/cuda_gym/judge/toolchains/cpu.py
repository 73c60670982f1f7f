"""The `cpu` device: a submission's CUDA C++ compiled for the host.

    rewrite   what C++ cannot take becomes C++ (cuda_on_cpu/rewrite.py), or is refused
    compile   each `kernels/*.cu` by the host compiler, against our own CUDA headers
    link      one library, beside a copy of the runtime library it runs on
    cache     by the content of everything that decides the result

Covered: compile errors in the agent's own lines, deadlines, limits on the compiler, a cache shared by
many processes. Not covered: running the library; that is the candidate's business.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Build, Diagnostic, MemoryFinding, Severity
from cuda_gym.core.plain import as_plain
from cuda_gym.core.task import Submission
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.build_cache import BuildCache, digest
from cuda_gym.judge.toolchains.builds import LIBRARY_NAME, find_or_build
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Mode
from cuda_gym.judge.toolchains.cuda_on_cpu.checking import read_findings
from cuda_gym.judge.toolchains.cuda_on_cpu.compile_steps import build_cut_or_whole
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import FLAGS, cpu_identity, find_compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.native_build import build_library
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import Program, rewrite
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import RUNTIME_NAME
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime_build import (
    own_version,
    runtime_library,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.shared_memory import static_shared_bytes
from cuda_gym.judge.toolchains.direct_kernels import parse_kernels
from cuda_gym.judge.toolchains.kernel_files import kernel_files

__all__ = ["CpuToolchain"]

_MAX_STATIC_SHARED = 48 << 10


class CpuToolchain:
    """Compiles CUDA C++ for the processor of this machine.

    Args:
        cache: Where builds are kept; None is the user's.
        device: There is one.
    """

    def __init__(self, cache: BuildCache | None = None, *, device: Device | None = None) -> None:
        del device
        self._cache = cache or BuildCache()

    @property
    def name(self) -> str:
        """The compiler, and the version of our part: `g++ 12.2.0 (cuda_on_cpu 1a2b3c4d)`."""
        return f"{find_compiler().version} (cuda_on_cpu {own_version()[:8]})"

    def warm(self) -> None:
        """Build the runtime libraries ahead of time, if this machine does not have them yet.

        Raises:
            MissingTool: no compiler, or one that cannot build it.
            StorageError: the cache cannot be written.
        """
        for checking in (False, True):
            runtime_library(self._cache, find_compiler(), checking=checking)

    def build(
        self, submission: Submission, *, deadline_s: float = 60.0, checking: bool = False
    ) -> Build:
        """Compile every `kernels/*.cu` into one library, or find it in the cache.

        Args:
            submission: Sources and nothing else.
            deadline_s: How long the compiler may take.
            checking: Whether the library is to look for races and stray accesses while it runs.

        Raises:
            CompileError: the compiler said no; carries the diagnostics.
            UnsupportedOnDevice: right CUDA that this device cannot run; `file:line` in each diagnostic.
            CandidateTimeout: the compiler was stopped at the deadline.
            MissingTool: no compiler.
            StorageError: the cache cannot be written.
        """
        files = kernel_files(submission)
        compiler = find_compiler()
        key = _key(compiler, files, checking=checking)
        return find_or_build(
            self._cache,
            key,
            lambda: self._compile(compiler, key, files, deadline_s, checking=checking),
            toolchain=self.name,
        )

    def own_kernels(self) -> str:
        """None: on the host the judge runs nothing."""
        return ""

    def read_findings(self, build: Build, text: str) -> tuple[MemoryFinding, ...]:
        """What a checking build has written, with lines of the submission."""
        return read_findings(text, Path(build.library), is_own=lambda f: f.startswith("kernels/"))

    def _compile(
        self,
        compiler: Compiler,
        key: str,
        files: Mapping[str, str],
        deadline_s: float,
        *,
        checking: bool,
    ) -> tuple[Path, dict[str, Any]]:
        # Before the clock starts: that this machine has no runtime yet is not the submission's fault.
        runtime = runtime_library(self._cache, compiler, checking=checking)
        deadline = time.monotonic() + deadline_s
        with self._cache.workspace() as folder:
            library = folder / LIBRARY_NAME
            program, diagnostics = build_cut_or_whole(
                lambda cuts: rewrite(files, checking=checking, cuts=cuts),
                lambda program: build_library(
                    compiler, program, library, runtime, deadline, checking=checking
                ),
            )
            facts = {
                "kernels": _resources(program, library.read_bytes()),
                "diagnostics": as_plain(diagnostics),
            }
            built = {LIBRARY_NAME: library, RUNTIME_NAME: runtime}
            return self._cache.publish(key, built, facts), facts


def _resources(program: Program, library: bytes) -> list[dict[str, Any]]:
    """What `KernelResources` holds, for every kernel.

    Raises:
        CompileError: a kernel has more static shared memory than a GPU gives.
    """
    shared = static_shared_bytes(library)
    for name in program.kernels:
        if shared.get(name, 0) > _MAX_STATIC_SHARED:
            raise _too_much_shared(program, name, shared[name])
    return [
        {
            "name": name,
            "mode": mode.value if mode in (Mode.FIBERS, Mode.PHASES) else "loop",
            "shared_bytes": sum(shared.get(word, 0) for word in {name, *program.reaches[name]}),
        }
        for name, mode in program.kernels.items()
    ]


def _too_much_shared(program: Program, name: str, num_bytes: int) -> CompileError:
    texts = {path: rewritten.source.text for path, rewritten in program.files.items()}
    found = [kernel for kernel in parse_kernels(texts) if kernel.name == name]
    error = Diagnostic(
        severity=Severity.ERROR,
        message=f"kernel {name} has {num_bytes:,} bytes of static shared memory; "
        f"{_MAX_STATIC_SHARED:,} are the most: take smaller tiles, or use extern __shared__ with "
        "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
        file=found[0].file if found else None,
        line=found[0].line if found else None,
    )
    return CompileError(str(error), (error,))


def _key(compiler: Compiler, files: Mapping[str, str], *, checking: bool) -> str:
    parts = [part for path in sorted(files) for part in (path, files[path])]
    what = "checking kernels" if checking else "kernels"
    return digest(what, compiler.identity, cpu_identity(), own_version(), *FLAGS, *parts)
