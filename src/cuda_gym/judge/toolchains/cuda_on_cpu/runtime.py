"""The runtime library as a candidate process sees it: load kernels, count launches, take errors.

Covered: works in a process forked from one that has torch loaded; starts no thread before the first
launch. Not covered: isolation; kernels run as ordinary code of the process.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from cuda_gym.judge.toolchains.kernel_runtime import LaunchedKernel

__all__ = ["RUNTIME_NAME", "Runtime"]

RUNTIME_NAME = "libcuda_on_cpu.so"
"""Lies beside every kernels' library, which finds it there."""


class _KernelTime(ctypes.Structure):
    """As kernel_times.cpp has it."""

    _fields_ = (
        ("kernel", ctypes.c_char_p),
        ("launches", ctypes.c_uint64),
        ("total_ns", ctypes.c_uint64),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("longest_ns", ctypes.c_uint64),
    )


class Runtime:
    """The kernels of one build, and the runtime they run on.

    All instances in one process share the runtime: its number of threads, its count of launches and
    its pending error.
    """

    def __init__(self, library_path: str | Path) -> None:
        path = Path(library_path)
        self._runtime = ctypes.CDLL(
            str(path.parent / RUNTIME_NAME), mode=os.RTLD_NOW | os.RTLD_GLOBAL
        )
        self._runtime.cuda_on_cpu_num_launches.restype = ctypes.c_uint64
        self._runtime.cuda_on_cpu_take_error.restype = ctypes.c_char_p
        self.library = ctypes.CDLL(str(path), mode=os.RTLD_NOW)
        """The submission's own functions."""
        self.is_checking = hasattr(self._runtime, "cuda_on_cpu_findings")
        """Whether it is the checking build; what follows `check_memory` needs that."""
        if self.is_checking:
            self._runtime.cuda_on_cpu_findings.restype = ctypes.c_char_p
            self._runtime.cuda_on_cpu_unwritten_bytes.restype = ctypes.c_uint64

    def set_num_threads(self, count: int) -> None:
        """How many OS threads run the blocks of a grid, the calling one among them."""
        if count < 1:
            raise ValueError(f"a number of threads is at least 1; got {count}")
        self._runtime.cuda_on_cpu_set_num_threads(ctypes.c_int(count))

    def num_launches(self) -> int:
        """Kernels launched in this process so far; launches that were refused do not count."""
        return int(self._runtime.cuda_on_cpu_num_launches())

    def time_kernels(self, on: bool) -> None:
        """Forget the times of kernels, and take them from now on, or no longer."""
        self._runtime.cuda_on_cpu_time_kernels(ctypes.c_int(on))

    def launched_kernels(self) -> tuple[LaunchedKernel, ...]:
        """What was launched since `time_kernels`, in the order of the first launches."""
        found: list[LaunchedKernel] = []
        time = _KernelTime()
        while self._runtime.cuda_on_cpu_kernel_time(len(found), ctypes.byref(time)):
            found.append(
                LaunchedKernel(
                    name=time.kernel.decode("utf-8", "replace"),
                    launches=time.launches,
                    total_ns=time.total_ns,
                    grid=tuple(time.grid),
                    block=tuple(time.block),
                )
            )
        return tuple(found)

    def take_error(self) -> str | None:
        """What went wrong in the first launch that failed since the last call; None where none did.

        It is told whether or not the submission has read its own `cudaGetLastError`.
        """
        message: bytes | None = self._runtime.cuda_on_cpu_take_error()
        return None if message is None else message.decode("utf-8", "replace")

    def describe_fault(self, fault: str) -> str:
        """As it is: a fault of the processor ends the process, and its handler tells the launch."""
        return fault

    def install_fault_handler(self, fd: int) -> None:
        """On a fault of the processor write one line to a descriptor and leave with status 139.

        The line names the address, the kernel, the block, and the thread of a kernel that runs as
        fibers. On SIGQUIT, which stands for a missed deadline, the line tells what the current block
        is doing, and the status is 124.
        """
        if self._runtime.cuda_on_cpu_install_fault_handler(ctypes.c_int(fd)) != 0:
            raise OSError("the fault handler cannot be installed: sigaction failed")
        self._runtime.cuda_on_cpu_answer_quit(ctypes.c_int(fd))

    def check_memory(self, address: int, num_bytes: int, name: str) -> None:
        """Let kernels reach some memory, under a name that findings call it by."""
        self._runtime.cuda_on_cpu_check_memory(
            ctypes.c_void_p(address), ctypes.c_size_t(num_bytes), name.encode()
        )

    def check_blocks(self, most: int) -> None:
        """Check only so many blocks of each launch, the first and the last among them; 0 is all."""
        self._runtime.cuda_on_cpu_check_blocks(ctypes.c_uint64(most))

    def unwritten_bytes(self, address: int, num_bytes: int) -> int:
        """How much of some memory no kernel has written."""
        count: int = self._runtime.cuda_on_cpu_unwritten_bytes(
            ctypes.c_void_p(address), ctypes.c_size_t(num_bytes)
        )
        return count

    def findings(self) -> str:
        """What was found so far, a line of JSON each."""
        text: bytes = self._runtime.cuda_on_cpu_findings()
        return text.decode("utf-8", "replace")

    def poison_shared_memory(self, on: bool) -> None:
        """Fill shared memory with NaN before each block, so that what was never written shows."""
        self._runtime.cuda_on_cpu_poison_shared_memory(ctypes.c_int(on))
