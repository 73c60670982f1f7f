"""The devices `cuda:N`: three ways from sources to something that a GPU runs, chosen by what there is.

    a folder with bindings, or a file with load_inline   a Python extension, by torch's headers
    kernels without host code, launched from Python       machine code alone, by NVRTC
    everything else                                       a library with launchers, by nvcc

Covered: architecture and driver of the device at hand; a way that finds out late that the sources are not
for it. Not covered: running the build; its form says how it is loaded.
"""

from __future__ import annotations

from functools import cached_property

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Build, MemoryFinding
from cuda_gym.core.task import Submission
from cuda_gym.errors import MissingTool
from cuda_gym.judge.profiling.gpus import Gpu, find_gpu
from cuda_gym.judge.toolchains import sanitizer
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.extension_build import ExtensionToolchain
from cuda_gym.judge.toolchains.nvcc import NvccToolchain
from cuda_gym.judge.toolchains.nvrtc import NvrtcCannot, NvrtcToolchain
from cuda_gym.judge.toolchains.own_kernels import own_cubin
from cuda_gym.judge.toolchains.toolkit import find_nvcc
from cuda_gym.judge.toolchains.toolkit_facts import architecture_for, require_driver

__all__ = ["CudaToolchain"]


class CudaToolchain:
    """Compiles for one GPU of this machine.

    Args:
        device: Which.
        cache: Where builds are kept; None is the user's.
        gpu: What is known of it; None asks the driver. Nothing is run, so that it need not be here.
    """

    def __init__(
        self, device: Device, cache: BuildCache | None = None, *, gpu: Gpu | None = None
    ) -> None:
        self._device = device
        self._cache = cache or BuildCache()
        self._known_gpu = gpu

    @property
    def name(self) -> str:
        """The compiler of most submissions and what it compiles for: `nvcc 13.0.88 (sm_90a)`.

        Raises:
            MissingTool: there is no such GPU, no compiler, or a driver that is older than it.
        """
        return self._nvcc.name

    def warm(self) -> None:
        """Make ahead of time what every build needs.

        Raises:
            MissingTool: there is no such GPU, no compiler, or a driver that is older than it.
            StorageError: the cache cannot be written.
        """
        self._nvcc.warm()
        self._nvrtc.warm()

    def build(
        self, submission: Submission, *, deadline_s: float = 60.0, checking: bool = False
    ) -> Build:
        """Compile a submission in the way that is for it, or find it in the cache.

        Args:
            submission: Sources and nothing else.
            deadline_s: How long the compiler may take.
            checking: Makes no difference: what looks for races and stray accesses runs the same code.

        Raises:
            CompileError: the compiler said no; carries the diagnostics.
            CandidateTimeout: the compiler was stopped at the deadline.
            MissingTool: there is no such GPU, no compiler, or a driver that is older than it.
            StorageError: the cache cannot be written.
        """
        del checking
        if self._extension.accepts(submission):
            return self._extension.build(submission, deadline_s=deadline_s)
        if self._nvrtc.accepts(submission):
            try:
                return self._nvrtc.build(submission, deadline_s=deadline_s)
            except NvrtcCannot:
                return self._nvcc.build(submission, deadline_s=deadline_s)
        return self._nvcc.build(submission, deadline_s=deadline_s)

    def own_kernels(self) -> str:
        """Machine code of the judge's own kernels.

        Raises:
            MissingTool: there is no such GPU, or no compiler for it.
            StorageError: the cache cannot be written.
        """
        return str(own_cubin(self._architecture, self._cache))

    def read_findings(self, build: Build, text: str) -> tuple[MemoryFinding, ...]:
        """What a run under the sanitizer has written, with lines of the submission."""
        return sanitizer.read_findings(text, build)

    @cached_property
    def _gpu(self) -> Gpu:
        return self._known_gpu or find_gpu(self._device)

    @cached_property
    def _architecture(self) -> str:
        try:
            compiler = find_nvcc()
        except MissingTool:
            return self._gpu.architecture
        require_driver(compiler, self._gpu.cuda_version)
        return architecture_for(compiler, self._gpu.capability)

    @cached_property
    def _nvcc(self) -> NvccToolchain:
        driver_cuda = self._gpu.cuda_version
        return NvccToolchain(self._architecture, self._cache, driver_cuda=driver_cuda)

    @cached_property
    def _nvrtc(self) -> NvrtcToolchain:
        driver_cuda = self._gpu.cuda_version
        return NvrtcToolchain(self._architecture, self._cache, driver_cuda=driver_cuda)

    @cached_property
    def _extension(self) -> ExtensionToolchain:
        driver_cuda = self._gpu.cuda_version
        return ExtensionToolchain(self._architecture, self._cache, driver_cuda=driver_cuda)
