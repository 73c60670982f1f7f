"""Each finding of the memory check is told with what repairs it."""

from __future__ import annotations

import pytest

from cuda_gym.core.findings import MemoryFinding, MemorySide
from cuda_gym.judge.toolchains.cuda_on_cpu.checking import KINDS
from cuda_gym.judge.verification.remedies import remedy


def finding(kind: str, text: str = "", *sides: tuple[str, int]) -> MemoryFinding:
    return MemoryFinding(
        kind=kind,
        text=text,
        kernel="k",
        sides=tuple(MemorySide(does=does, file="kernels/a.cu", line=line) for does, line in sides),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_remedy(kind: str) -> None:
    assert len(remedy(finding(kind))) > 20


BEHIND = "4 bytes at 0 bytes behind the end of `out` (global memory, 400 bytes)"
RACE = "4 bytes at `tile` + 128 (shared memory); no __syncthreads is between"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (finding("out of bounds", BEHIND), "`if (i < n)`, where i is the index and n the number of elements of `out`"),
        (finding("out of bounds", f"{BEHIND}; as elements of 4 bytes: index 100000, and 99 is the last"), "how the index into `out` is computed"),
        (finding("out of bounds", f"{BEHIND}; as elements of 4 bytes: index 255, and 99 is the last"), "guard the access"),
        (finding("out of bounds", "4 bytes at 4 bytes before `x` (global memory, 8 bytes)"), "`x` is negative"),
        (finding("out of bounds", "index 33 of an array of type 'float [32]'"), "between 0 and 31"),
        (finding("out of bounds", "4 bytes at 8 bytes behind the end of `s` (shared memory, 128 bytes)"), "`s` is too small"),
        (finding("out of bounds", "4 bytes at address 0x0, a null pointer"), "not None"),
        (finding("data race", RACE, ("writes", 6), ("read it", 9)), "`__syncthreads();` between line 6 and line 9"),
        (finding("data race", RACE, ("reads", 7), ("wrote it", 7)), "`__syncthreads();` behind line 7"),
        (finding("data race", RACE, ("writes", 7), ("wrote it", 7)), "`if (threadIdx.x == 0)`"),
        (finding("data race", "`s` + 0; no __syncwarp is between", ("writes", 7), ("read it", 8)), "`__syncthreads();` between line 7 and line 8 (`__syncwarp();` where a single warp"),
        (finding("data race", "`out` + 0; blocks of a launch have no order"), "atomicAdd"),
        (finding("uninitialised read", "4 bytes at `tile` + 0 (shared memory)"), "write `tile` first"),
        (finding("uninitialised read", "4 bytes at `out` + 0 (global memory)"), "torch.empty"),
        (finding("unwritten output", "8 of the 8 bytes of output 0 were written by no kernel"), "launch a kernel"),
        (finding("unwritten output", "8 of the 16 bytes of output 0 were written by no kernel"), "grid cover all"),
    ],
)  # fmt: skip
def test_a_remedy_names_what_the_finding_names(found: MemoryFinding, expected: str) -> None:
    assert expected in remedy(found)
