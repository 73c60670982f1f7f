"""CUDA C++ for a GPU, by nvcc: a submission's kernels as one shared library.

    compile   every `kernels/*.cu` for one architecture, side by side
    link      one library with the launch recorder, on the shared CUDA runtime: a static one imports
              dlopen and sockets
    cache     by the content of everything that decides the result

Covered: messages in the agent's own lines, what ptxas says of each kernel, deadlines and limits. It
needs no GPU. Not covered: running the library (`launch_recorder`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cuda_gym.core.findings import Build
from cuda_gym.core.plain import as_plain
from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains.block_sizes import with_known_blocks
from cuda_gym.judge.toolchains.build_cache import digest
from cuda_gym.judge.toolchains.builds import LIBRARY_NAME, find_or_build, own_version, refusal
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.gpu_toolchain import GpuToolchain
from cuda_gym.judge.toolchains.kernel_files import kernel_files
from cuda_gym.judge.toolchains.kernel_warnings import local_memory_warnings, require_static_shared
from cuda_gym.judge.toolchains.launch_recorder_build import recorder_objects, recorder_version
from cuda_gym.judge.toolchains.nvcc_diagnostics import parse_nvcc
from cuda_gym.judge.toolchains.nvcc_run import run_nvcc
from cuda_gym.judge.toolchains.occupancy import capability_of
from cuda_gym.judge.toolchains.ptxas import read_resources
from cuda_gym.judge.toolchains.toolkit import find_nvcc
from cuda_gym.judge.toolchains.toolkit_facts import (
    cuda_runtime,
    require_architecture,
    require_driver,
)

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
)


class NvccToolchain(GpuToolchain):
    """Compiles CUDA C++ into one library."""

    @property
    def name(self) -> str:
        """The compiler and what it compiles for: `nvcc 13.0.88 (sm_90)`."""
        return f"{find_nvcc().version} ({self._architecture})"

    def accepts(self, _submission: Submission) -> bool:
        """Whether it can build it: whatever has sources."""
        return True

    def warm(self) -> None:
        """Build what every library is linked with ahead of time, if it is not there yet.

        Raises:
            MissingTool: no nvcc, or one that does not build for this GPU and its driver.
            StorageError: the cache cannot be written.
        """
        recorder_objects(self._cache, self._compiler())

    def build(self, submission: Submission, *, deadline_s: float = 60.0) -> Build:
        """Compile every `kernels/*.cu` into one library, or find it in the cache.

        Raises:
            CompileError: the compiler said no; carries the diagnostics.
            CandidateTimeout: the compiler was stopped at the deadline.
            MissingTool: no nvcc, or one that does not build for this GPU and its driver.
            StorageError: the cache cannot be written.
        """
        files = kernel_files(submission)
        compiler = self._compiler()
        parts = [part for path in sorted(files) for part in (path, files[path])]
        identity = (compiler.identity, recorder_version(), own_version(), self._architecture)
        key = digest("nvcc", *identity, *parts)
        return find_or_build(
            self._cache,
            key,
            lambda: self._compile(compiler, key, files, deadline_s),
            toolchain=self.name,
        )

    def _compiler(self) -> Compiler:
        compiler = find_nvcc()
        require_driver(compiler, self._driver_cuda)
        require_architecture(compiler, self._architecture)
        return compiler

    def _compile(
        self, compiler: Compiler, key: str, files: Mapping[str, str], deadline_s: float
    ) -> tuple[Path, dict[str, Any]]:
        # Not the submission's fault, nor its time, where they have to be made first.
        recorder = recorder_objects(self._cache, compiler)
        runtime = cuda_runtime(compiler)
        with self._cache.workspace() as folder:
            for path, text in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text, encoding="utf-8")
            # A wheel has the library under its full name only.
            (folder / "lib").mkdir()
            (folder / "lib" / "libcudart.so").symlink_to(runtime)
            generate = self._architecture.replace("sm_", "compute_")
            flags = [
                *_FLAGS,
                f"-gencode=arch={generate},code={self._architecture}",
                "-Llib",
                f"-Xlinker=-rpath={runtime.parent}",
                f"-Xlinker={','.join(recorder.linker_options)}",
                *recorder.objects,
            ]
            status, said = run_nvcc(
                compiler, flags, files, LIBRARY_NAME, folder=folder, deadline_s=deadline_s
            )
            diagnostics = parse_nvcc(said, files)
            if status:
                raise refusal(said, diagnostics, folder)
            require_static_shared(read_resources(said), files)
            capability = capability_of(self._architecture)
            kernels = with_known_blocks(read_resources(said), files, capability)
            diagnostics = (*diagnostics, *local_memory_warnings(kernels, files))
            facts = {"kernels": as_plain(kernels), "diagnostics": as_plain(diagnostics)}
            entry = self._cache.publish(key, {LIBRARY_NAME: folder / LIBRARY_NAME}, facts)
            return entry, facts
