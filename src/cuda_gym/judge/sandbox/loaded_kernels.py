"""A build in the process of its submission: loaded by its form, and importable as `cuda_extension`."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import torch

from cuda_gym.core.findings import BuildForm
from cuda_gym.judge.sandbox.kernel_clock import KernelClock
from cuda_gym.judge.sandbox.memory_check import MemoryCheck
from cuda_gym.judge.sandbox.messages import (
    Load,
)
from cuda_gym.judge.toolchains.cuda_extension import make_extension
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
from cuda_gym.judge.toolchains.direct_kernels import DirectKernel
from cuda_gym.judge.toolchains.kernel_runtime import KernelRuntime
from cuda_gym.judge.toolchains.launchers import Launcher
from cuda_gym.judge.toolchains.native_calls import KernelEntries

__all__ = ["LoadedKernels", "load_kernels"]


class LoadedKernels:
    """The kernels of one submission, and what they have done so far."""

    def __init__(
        self,
        runtime: KernelRuntime,
        check: MemoryCheck | None = None,
        *,
        tells_errors: bool = True,
    ) -> None:
        self.check = check
        """There where the build looks for stray accesses while it runs."""
        self.tells_errors = tells_errors
        """Whether a call raises where its launch fails; who does not is asked after forward."""
        self._runtime = runtime
        self._library_calls = 0

    def counts(self) -> tuple[int, int]:
        """Kernels launched, and calls of `cuda_extension.library`, so far."""
        return self._runtime.num_launches(), self._library_calls

    def poison_shared_memory(self, on: bool) -> None:
        """Let shared memory begin as NaN, where the device lets itself be told so."""
        if isinstance(self._runtime, Runtime):
            self._runtime.poison_shared_memory(on)

    def take_error(self) -> str | None:
        """What is wrong with a launch that nobody has looked at: one in a module of its own."""
        return self._runtime.take_error()

    def describe_fault(self, fault: str) -> str:
        """A fault of the device, with the launch that it was found after."""
        return self._runtime.describe_fault(fault)

    def note_library_call(self, _name: str) -> None:
        """One more call of `cuda_extension.library`."""
        self._library_calls += 1


def load_kernels(message: Load, device: torch.device, clock: KernelClock) -> LoadedKernels | None:
    """Load a build, and make it what `import cuda_extension` gives; None where there is none.

    Args:
        message: What is loaded.
        device: Where tensors must be.
        clock: Told which runtime to ask for times.

    Raises:
        OSError: it cannot be loaded.
        CompileError: it lacks a launcher.
    """
    if not message.library:
        return None
    load = _load_on_cpu if device.type == "cpu" else _ON_GPU[BuildForm(message.form)]
    return load(message, device, clock)


def _load_on_cpu(message: Load, device: torch.device, clock: KernelClock) -> LoadedKernels:
    runtime = Runtime(message.library)
    runtime.set_num_threads(message.num_threads)
    runtime.install_fault_handler(2)
    check = None
    if runtime.is_checking:
        check = MemoryCheck(runtime, most_blocks=message.check_blocks)
    kernels = LoadedKernels(runtime, check)
    on_tensor = None if check is None else check.note
    _install(message, device, clock, kernels, runtime, runtime.library, on_tensor=on_tensor)
    return kernels


def _load_library(message: Load, device: torch.device, clock: KernelClock) -> LoadedKernels:
    from cuda_gym.judge.toolchains.launch_recorder import RecordedLibrary

    runtime = RecordedLibrary(message.library)
    kernels = LoadedKernels(runtime)
    _install(message, device, clock, kernels, runtime, runtime.library)
    return kernels


def _load_cubin(message: Load, device: torch.device, clock: KernelClock) -> LoadedKernels:
    from cuda_gym.judge.toolchains.cubin import LoadedCubin

    runtime = LoadedCubin(message.library, ordinal=device.index or 0)
    kernels = LoadedKernels(runtime)
    _install(message, device, clock, kernels, runtime, runtime)
    return kernels


def _load_extension(message: Load, device: torch.device, clock: KernelClock) -> LoadedKernels:
    from cuda_gym.judge.sandbox import inline_extension
    from cuda_gym.judge.toolchains.loaded_extension import LoadedExtension

    del device
    runtime = clock.runtime = LoadedExtension(message.library)
    # Under no other name: one that load_inline was given may be that of a module we need.
    if module := runtime.modules.get("cuda_extension"):
        sys.modules["cuda_extension"] = module
    inline_extension.install(runtime.modules)
    return LoadedKernels(runtime, tells_errors=False)


_ON_GPU: dict[BuildForm, Callable[[Load, torch.device, KernelClock], LoadedKernels]] = {
    BuildForm.LIBRARY: _load_library,
    BuildForm.CUBIN: _load_cubin,
    BuildForm.EXTENSION: _load_extension,
}


def _install(
    message: Load,
    device: torch.device,
    clock: KernelClock,
    kernels: LoadedKernels,
    runtime: KernelRuntime,
    library: ctypes.CDLL | KernelEntries,
    *,
    on_tensor: Callable[[str, torch.Tensor], None] | None = None,
) -> None:
    clock.runtime = runtime
    sys.modules["cuda_extension"] = make_extension(
        tuple(Launcher.from_plain(plain) for plain in message.launchers),
        library,
        device=device,
        stream=_current_stream(device),
        take_error=runtime.take_error,
        allowed_library=message.allowed_library,
        allow_tf32=message.allow_tf32,
        on_library_call=kernels.note_library_call,
        on_tensor=on_tensor,
        timed=clock.timed,
        kernels=tuple(DirectKernel.from_plain(plain) for plain in message.kernels),
    )


def _current_stream(device: torch.device) -> Callable[[], int]:
    """Gives the address of torch's current stream; 0 where there are none."""
    if device.type == "cpu":
        return lambda: 0
    raw: Any = torch._C._cuda_getCurrentRawStream
    index = device.index
    return lambda: int(raw(index))
