"""CUDA C++ for a GPU, by nvcc: a submission's kernels as one shared library.

    compile   every `kernels/*.cu` for one architecture, side by side
    link      one library on the shared CUDA runtime: a static one imports dlopen and sockets
    cache     by the content of everything that decides the result

Covered: messages in the agent's own lines, what ptxas says of each kernel, deadlines and limits. It
needs no GPU. Not covered: running the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cuda_gym.core.findings import Build
from cuda_gym.core.plain import as_plain
from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains.build_cache import BuildCache, digest
from cuda_gym.judge.toolchains.builds import LIBRARY_NAME, find_or_build, refusal
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.kernel_files import kernel_files
from cuda_gym.judge.toolchains.nvcc_diagnostics import parse_nvcc
from cuda_gym.judge.toolchains.ptxas import read_resources
from cuda_gym.judge.toolchains.toolkit import find_nvcc

__all__ = ["NvccToolchain"]

_FLAGS = (
    "-O3",
    "-std=c++17",
    "-lineinfo",
    "-Xptxas=-v",
    "-Xcompiler=-fPIC",
    "-cudart=shared",
    "-shared",
    "-Xlinker=--no-undefined",
    # One thread a core; a single file gains nothing and loses nothing.
    "--threads=0",
)


class NvccToolchain:
    """Compiles CUDA C++ for one GPU architecture.

    Args:
        architecture: As nvcc names it: `sm_90`.
        cache: Where builds are kept; None is the user's.
    """

    def __init__(self, architecture: str, cache: BuildCache | None = None) -> None:
        self._architecture = architecture
        self._cache = cache or BuildCache()

    @property
    def name(self) -> str:
        """The compiler and what it compiles for: `nvcc 13.0.88 (sm_90)`."""
        return f"{find_nvcc().version} ({self._architecture})"

    def build(self, submission: Submission, *, deadline_s: float = 60.0) -> Build:
        """Compile every `kernels/*.cu` into one library, or find it in the cache.

        Raises:
            CompileError: the compiler said no; carries the diagnostics.
            CandidateTimeout: the compiler was stopped at the deadline.
            MissingTool: no nvcc.
            StorageError: the cache cannot be written.
        """
        files = kernel_files(submission)
        compiler = find_nvcc()
        parts = [part for path in sorted(files) for part in (path, files[path])]
        key = digest("nvcc", compiler.identity, self._architecture, *_FLAGS, *parts)
        return find_or_build(
            self._cache,
            key,
            lambda: self._compile(compiler, key, files, deadline_s),
            toolchain=self.name,
        )

    def _compile(
        self, compiler: Compiler, key: str, files: Mapping[str, str], deadline_s: float
    ) -> tuple[Path, dict[str, Any]]:
        with self._cache.workspace() as folder:
            for path, text in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text, encoding="utf-8")
            units = [path for path in files if path.endswith(".cu")]
            command = [*_FLAGS, f"-arch={self._architecture}", "-o", LIBRARY_NAME, *units]
            status, said = compiler.run(command, folder=folder, deadline_s=deadline_s)
            diagnostics = parse_nvcc(said, files)
            if status:
                raise refusal(said, diagnostics, folder)
            kernels = as_plain(read_resources(said))
            facts = {"kernels": kernels, "diagnostics": as_plain(diagnostics)}
            entry = self._cache.publish(key, {LIBRARY_NAME: folder / LIBRARY_NAME}, facts)
            return entry, facts
