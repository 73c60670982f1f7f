from __future__ import annotations

import pytest

from cuda_gym.core.findings import KernelResources
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.kernel_warnings import local_memory_warnings, require_static_shared

FILES = {"kernels/a.cu": "\ntemplate <int N>\n__global__ void tiles(float* x) {}\n"}


def _kernel(**facts: int) -> KernelResources:
    return KernelResources(name="tiles<8>", **facts)  # type: ignore[arg-type]


def test_an_array_in_local_memory_is_told_at_its_kernel() -> None:
    [warning] = local_memory_warnings([_kernel(stack_bytes=400, spill_bytes=0)], FILES)
    assert str(warning).startswith(
        "kernels/a.cu:3: warning: kernel tiles<8> keeps 400 bytes a thread in local memory"
    )


@pytest.mark.parametrize(("stack", "spill"), [(0, 0), (40, 0), (400, 96)])
def test_spilled_registers_and_what_functions_need_are_not(stack: int, spill: int) -> None:
    assert local_memory_warnings([_kernel(stack_bytes=stack, spill_bytes=spill)], FILES) == ()


def test_more_static_shared_memory_than_a_gpu_gives_is_an_error() -> None:
    require_static_shared([_kernel(shared_bytes=49152)], FILES)
    with pytest.raises(CompileError, match=r"kernels/a\.cu:3: .*80,000 bytes of static shared"):
        require_static_shared([_kernel(shared_bytes=80000)], FILES)
