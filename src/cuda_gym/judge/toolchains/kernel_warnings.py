"""What ptxas says of a kernel that its author wants to know, with the way out.

Covered: local memory that is no spilled register: an array that lies in memory instead of registers;
static shared memory beyond what every GPU gives, which ptxas lets pass for some. Spilled registers are
told where the resources of kernels are. Not covered: what is slow for other reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cuda_gym.core.findings import Diagnostic, KernelResources, Severity
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.function_places import find_functions, short_name

__all__ = ["local_memory_warnings", "require_static_shared"]

_MOST_HARMLESS = 64
"""Bytes a thread that the mathematical functions and printf take by themselves."""
_MOST_STATIC_SHARED = 48 << 10


def local_memory_warnings(
    kernels: Sequence[KernelResources], files: Mapping[str, str]
) -> tuple[Diagnostic, ...]:
    """One warning for each kernel that keeps arrays in local memory, at the line of its name.

    Args:
        kernels: As ptxas told them.
        files: Texts of the sources.
    """
    return tuple(
        _at_kernel(
            kernel,
            files,
            Severity.WARNING,
            f"keeps {kernel.stack_bytes:,} bytes a thread in local memory, which is as slow as global "
            "memory: an array whose index is not known when it is compiled cannot lie in registers; "
            "unroll the loops around it (#pragma unroll, constant bounds), or keep it in shared memory",
        )
        for kernel in kernels
        if (kernel.stack_bytes or 0) > _MOST_HARMLESS and not kernel.spill_bytes
    )


def require_static_shared(kernels: Sequence[KernelResources], files: Mapping[str, str]) -> None:
    """See to it that no kernel has more static shared memory than a GPU gives.

    Args:
        kernels: As ptxas told them.
        files: Texts of the sources.

    Raises:
        CompileError: one has.
    """
    errors = tuple(
        _at_kernel(
            kernel,
            files,
            Severity.ERROR,
            f"has {kernel.shared_bytes:,} bytes of static shared memory; {_MOST_STATIC_SHARED:,} are the "
            "most: take smaller tiles, or use extern __shared__ with "
            "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
        )
        for kernel in kernels
        if (kernel.shared_bytes or 0) > _MOST_STATIC_SHARED
    )
    if errors:
        raise CompileError(str(errors[0]), errors)


def _at_kernel(
    kernel: KernelResources, files: Mapping[str, str], severity: Severity, fact: str
) -> Diagnostic:
    place = next(iter(find_functions(files, short_name(kernel.name))), None)
    return Diagnostic(
        severity=severity,
        message=f"kernel {kernel.name} {fact}",
        file=place and place.file,
        line=place and place.line,
    )
