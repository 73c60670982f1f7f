"""What the kernels and the library calls of one call of forward took, told by the candidate's process.

Not covered: whether it is true. The submission shares the process, so that nothing is decided by it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from cuda_gym.judge.sandbox.messages import (
    KernelClaim,
)
from cuda_gym.judge.toolchains.kernel_runtime import KernelRuntime

__all__ = ["KernelClock"]


class KernelClock:
    """Runs between `start` and `stop`; otherwise it takes no time."""

    def __init__(self) -> None:
        self.runtime: KernelRuntime | None = None
        """Set once the submission has kernels."""
        self._library: dict[str, list[int]] | None = None

    def start(self) -> None:
        """Forget everything, and listen."""
        self._library = {}
        if self.runtime is not None:
            self.runtime.time_kernels(True)

    def stop(self) -> tuple[KernelClaim, ...]:
        """What was heard since `start`."""
        library, self._library = self._library or {}, None
        launched = () if self.runtime is None else self.runtime.launched_kernels()
        if self.runtime is not None:
            self.runtime.time_kernels(False)
        kernels = tuple(
            KernelClaim(
                name=kernel.name,
                launches=kernel.launches,
                total_ns=kernel.total_ns,
                grid=kernel.grid,
                block=kernel.block,
            )
            for kernel in launched
        )
        return kernels + tuple(
            KernelClaim(name=name, launches=len(ns), total_ns=sum(ns), grid=(), block=())
            for name, ns in library.items()
        )

    def timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same library call, heard under this name while the clock runs."""

        @wraps(call)
        def heard(*arguments: Any, **named: Any) -> Any:
            if self._library is None:
                return call(*arguments, **named)
            start = time.perf_counter_ns()
            value = call(*arguments, **named)
            self._library.setdefault(f"library.{name}", []).append(time.perf_counter_ns() - start)
            return value

        return heard
