"""`cuda_extension.kernel("name")[grid, block, shared_bytes](args...)`: a launch without a launcher.

Covered: what is no grid, block or size, and what no device would launch, is told before anything is
launched; arguments are checked as those of launchers are. Not covered: limits of one device; those are
told by its runtime.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterable
from typing import Any

from cuda_gym.errors import did_you_mean
from cuda_gym.judge.toolchains.direct_kernels import DirectKernel
from cuda_gym.judge.toolchains.native_calls import KernelEntries, Surroundings, make_call

__all__ = ["KernelLaunch", "make_kernel_function"]


class KernelLaunch:
    """One kernel, to be launched as `launch[grid, block](args...)`."""

    def __init__(self, kernel: DirectKernel, entries: KernelEntries, around: Surroundings) -> None:
        self._kernel = kernel
        self._stream = around.stream
        self._call = make_call(kernel, entries.entry(kernel, _LEADING), around)
        self._launches: dict[Any, Callable[..., None]] = {}

    def __getitem__(self, configuration: Any) -> Callable[..., None]:
        """The kernel as a function, for one grid and block."""
        try:
            return self._launches[configuration]
        except (KeyError, TypeError):  # new, or holds what has no hash: a list
            launch = self._launch(_numbers(configuration, self._kernel.what))
        if len(self._launches) < _MOST_REMEMBERED:
            with contextlib.suppress(TypeError):
                self._launches[configuration] = launch
        return launch

    def _launch(self, numbers: tuple[int, ...]) -> Callable[..., None]:
        kernel, call, stream = self._kernel, self._call, self._stream

        def launch(*values: Any, **named: Any) -> None:
            if named:
                raise TypeError(
                    f"{kernel.what} takes its arguments by position. Call it as {kernel}."
                )
            call(values, *numbers, stream())

        return launch

    def __call__(self, *_values: Any) -> None:
        """Nothing is launched without a grid and a block."""
        raise TypeError(
            f"{self._kernel.what} needs a grid and a block: call cuda_extension.{self._kernel}"
        )

    def __repr__(self) -> str:
        return f"cuda_extension.{self._kernel}"


def make_kernel_function(
    kernels: Iterable[DirectKernel],
    entries: KernelEntries,
    around: Surroundings,
    launchers: Iterable[str],
) -> Callable[[str], KernelLaunch]:
    """What a submission calls as `cuda_extension.kernel`.

    Args:
        kernels: What `parse_kernels` found.
        entries: What launches them.
        around: What belongs to every call.
        launchers: The names of the launchers, for whoever mistakes one for a kernel.
    """
    known = {kernel.name: kernel for kernel in kernels}
    made: dict[str, KernelLaunch] = {}
    others = frozenset(launchers)

    def kernel(name: str) -> KernelLaunch:
        """A `__global__` function by its name, ready to be given a grid and a block."""
        if name not in made:
            found = known.get(name) if isinstance(name, str) else None
            if found is None:
                raise AttributeError(_no_kernel(name, known, others))
            if found.problem:
                raise AttributeError(
                    f"kernel {name!r} cannot be launched from Python: {found.problem}"
                )
            made[name] = KernelLaunch(found, entries, around)
        return made[name]

    return kernel


_LEADING = (*[ctypes.c_uint32] * 6, ctypes.c_uint64, ctypes.c_void_p)
"""Grid, block, bytes of shared memory and stream, as every entry takes them."""
_MOST_REMEMBERED = 256
"""Configurations of one kernel: to check one takes longer than a launch."""
_MOST_BLOCKS = (0x7FFFFFFF, 65535, 65535)
_MOST_THREADS = (1024, 1024, 64)
_MOST_THREADS_IN_ALL = 1024
_MOST_SHARED_BYTES = 227 << 10


def _no_kernel(name: object, known: Iterable[str], launchers: Iterable[str]) -> str:
    if not isinstance(name, str):
        return f"the name of a kernel is a str, got a {type(name).__name__}"
    if name in launchers:
        return f"{name!r} is a launcher, no kernel; call it as cuda_extension.{name}(...)"
    names = ", ".join(known) or "none"
    hint = did_you_mean(name, known)
    return f"no __global__ function {name!r} is in kernels/*.cu.{hint} There are: {names}."


def _numbers(configuration: Any, what: str) -> tuple[int, ...]:
    """Grid, block and bytes of shared memory as the entry of a kernel takes them.

    Raises:
        TypeError, ValueError: what no device would launch.
    """
    if not isinstance(configuration, tuple) or len(configuration) not in (2, 3):
        raise TypeError(
            f"{what} is launched as [grid, block] or [grid, block, shared_bytes]; grid and block are "
            f"ints or tuples of up to three, got [{configuration!r}]"
        )
    grid = _extent(configuration[0], "grid", _MOST_BLOCKS, what)
    block = _extent(configuration[1], "block", _MOST_THREADS, what)
    if (threads := block[0] * block[1] * block[2]) > _MOST_THREADS_IN_ALL:
        raise ValueError(
            f"{what}: the block {configuration[1]!r} has {threads:,} threads; {_MOST_THREADS_IN_ALL:,} "
            "are the most: take a smaller block and more blocks"
        )
    shared = configuration[2] if len(configuration) == 3 else 0
    if type(shared) is not int:
        raise TypeError(f"{what}: shared_bytes is {shared!r}, wanted an int, in bytes")
    if not 0 <= shared <= _MOST_SHARED_BYTES:
        raise ValueError(
            f"{what}: {shared:,} bytes of shared memory; 0 to {_MOST_SHARED_BYTES:,} can be asked for: "
            "take smaller tiles"
        )
    return (*grid, *block, shared)


def _extent(value: Any, name: str, most: tuple[int, int, int], what: str) -> tuple[int, ...]:
    """The three sizes of a grid or a block."""
    sizes = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(sizes) <= 3 or any(type(size) is not int for size in sizes):
        advice = "; divide with //, as in (n + 255) // 256" if float in map(type, sizes) else ""
        raise TypeError(
            f"{what}: the {name} is {value!r}, wanted an int or a tuple of up to three{advice}"
        )
    for axis, size, limit in zip("xyz", sizes, most, strict=False):
        if not 1 <= size <= limit:
            advice = "where there is nothing to compute, launch nothing" if size == 0 else (
                "let each thread compute several elements" if name == "grid" else "take more blocks"
            )  # fmt: skip
            raise ValueError(
                f"{what}: the {name} {value!r} has {size:,} along {axis}; 1 to {limit:,} can be "
                f"launched: {advice}"
            )
    return (*sizes, 1, 1)[:3]
