from __future__ import annotations

from dataclasses import replace

import pytest

from cuda_gym.core.findings import Build, KernelResources
from cuda_gym.core.verdict import Profile
from cuda_gym.judge.sandbox.kernel_claims import read_kernel_claims
from cuda_gym.judge.sandbox.messages import (
    KernelClaim,
    Ran,
)

BUILD = Build(
    key="k", library="/l.so", toolchain="g++", build_s=0.1, cached=True,
    kernels=(KernelResources(name="tile", mode="phases"),),
)  # fmt: skip
TILE = KernelClaim(name="tile", launches=3, total_ns=60_000, grid=(8, 2, 1), block=(16, 16, 1))
GEMM = KernelClaim(name="library.gemm", launches=1, total_ns=20_000, grid=(), block=())


def ran(*kernels: KernelClaim) -> Ran:
    return Ran(
        call_ns=(150_000, 100_000), launches=3, library_calls=1, findings="", kernels=kernels
    )


def test_possible_claims_are_read_with_the_mode_of_the_build() -> None:
    profile = read_kernel_claims(ran(TILE, GEMM), BUILD)
    assert profile.call_us == 100.0
    tile, gemm = profile.kernels
    assert (tile.launch_us, tile.grid, tile.mode) == (20.0, (8, 2, 1), "phases")
    assert (gemm.name, gemm.total_us, gemm.mode) == ("library.gemm", 20.0, None)


@pytest.mark.parametrize(
    "kernels",
    [
        (replace(TILE, total_ns=200_000),),
        (replace(TILE, total_ns=-1),),
        (replace(TILE, launches=0),),
        (replace(TILE, name=""),),
        (replace(TILE, name="x" * 300),),
        (replace(TILE, name="two\nlines"),),
        (replace(TILE, grid=(0, 1, 1)),),
        (replace(TILE, grid=(1, 1)),),
        (replace(TILE, block=(1025, 1, 1)),),
        tuple(replace(TILE, name=f"k{i}", total_ns=1) for i in range(99)),
    ],
)
def test_nothing_is_told_of_kernels_where_a_claim_is_impossible(
    kernels: tuple[KernelClaim, ...],
) -> None:
    assert read_kernel_claims(ran(*kernels), BUILD) == Profile()
