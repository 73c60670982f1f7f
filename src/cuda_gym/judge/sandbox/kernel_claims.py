"""What a candidate's process says of its kernels, as far as it is possible at all.

Covered: so many kernels that nobody reads them, names of any length or content, grids that no device
has, more time in kernels than the call took. Then nothing is told of them.

Not covered: a lie that is possible. What is made of the claims is shown to the agent who submitted the
files, and decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from cuda_gym.core.findings import Build
from cuda_gym.core.verdict import KernelTime, Profile
from cuda_gym.judge.sandbox.messages import (
    KernelClaim,
    Ran,
)

__all__ = ["read_kernel_claims"]

_MOST_KERNELS = 40
_MOST_NAME_CHARS = 200
_MOST_LAUNCHES = 10_000_000
_MOST_BLOCKS = 1 << 48
_SLACK = 1.05
"""Two clocks that are read one after the other."""


def read_kernel_claims(ran: Ran, build: Build) -> Profile:
    """Where the time of the fastest call went; without kernels where the claims cannot be true.

    Args:
        ran: What the candidate answered, asked for the times of its kernels.
        build: Tells how each kernel is run.
    """
    call_ns = min(ran.call_ns, default=0)
    claimed_ns = sum(claim.total_ns for claim in ran.kernels)
    are_possible = (
        call_ns > 0
        and len(ran.kernels) <= _MOST_KERNELS
        and all(map(_is_possible, ran.kernels))
        and claimed_ns <= call_ns * _SLACK
    )
    if not are_possible:
        return Profile()
    modes = {kernel.name: kernel.mode for kernel in build.kernels}
    return Profile(
        call_us=call_ns / 1000.0,
        kernels=tuple(_read(claim, modes) for claim in ran.kernels),
    )


def _is_possible(claim: KernelClaim) -> bool:
    return (
        0 < len(claim.name) <= _MOST_NAME_CHARS
        and claim.name.isprintable()
        and 1 <= claim.launches <= _MOST_LAUNCHES
        and claim.total_ns >= 0
        and len(claim.grid) == len(claim.block)
        and len(claim.grid) in (0, 3)
        and min((*claim.grid, *claim.block), default=1) >= 1
        and math.prod(claim.grid) <= _MOST_BLOCKS
        and math.prod(claim.block) <= 1024
    )


def _read(claim: KernelClaim, modes: Mapping[str, str | None]) -> KernelTime:
    return KernelTime(
        name=claim.name,
        launches=claim.launches,
        total_us=claim.total_ns / 1000.0,
        grid=claim.grid,
        block=claim.block,
        mode=modes.get(claim.name),
    )
