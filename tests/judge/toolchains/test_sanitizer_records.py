"""Reports of other versions and kinds, one each."""

from __future__ import annotations

import pytest

from cuda_gym.core.findings import MemoryFinding
from cuda_gym.judge.toolchains.cuda_on_cpu.checking import KINDS
from cuda_gym.judge.toolchains.sanitizer_records import finding_of, records
from cuda_gym.judge.verification.remedies import remedy


def found(*lines: str) -> MemoryFinding | None:
    [record] = records("\n".join(f"=========     {line}" for line in lines))
    return finding_of(record)


AT = "at scale(float *, int)+0x50 in /tmp/x/kernels/scale.cu:7"
BY = "by thread (3,0,0) in block (2,1,0)"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("Invalid __global__ write of size 4 bytes", AT, BY, "Address 0x7f0000000080 is out of bounds", "and is 13 bytes after the nearest allocation at 0x7f00 of size 1,024 bytes"),
         "out of bounds in kernel scale: 4 bytes at 12 bytes behind the end of an allocation of 1,024 bytes (global memory): thread (3, 0, 0) of block (2, 1, 0) writes at kernels/scale.cu:7"),
        (("Invalid __global__ read of size 8 bytes", AT, BY, "Address 0x7f0000000080 is out of bounds", "and is 8 bytes before the nearest allocation at 0x7f00 of size 64 bytes"),
         "out of bounds in kernel scale: 8 bytes at 8 bytes before an allocation of 64 bytes (global memory): thread (3, 0, 0) of block (2, 1, 0) reads at kernels/scale.cu:7"),
        (("Invalid __global__ read of size 4 bytes", AT, BY, "Address 0x10 is out of bounds", "and is 999 bytes before the nearest allocation at 0x7f00 of size 64 bytes"),
         "out of bounds in kernel scale: 4 bytes at address 0x10, a null pointer: thread (3, 0, 0) of block (2, 1, 0) reads at kernels/scale.cu:7"),
        (("Invalid __global__ read of size 4 bytes", AT, BY, "Address 0x7f8000000000 is out of bounds", "and is 137,179,965,340,896 bytes before the nearest allocation at 0x9 of size 64 bytes"),
         "out of bounds in kernel scale: 4 bytes at 0x7f8000000000 (global memory), which is no tensor's: thread (3, 0, 0) of block (2, 1, 0) reads at kernels/scale.cu:7"),
        (("Invalid __global__ read of size 16 bytes", AT, BY, "Access at 0x7f0000000001 is misaligned", "and is inside the nearest allocation at 0x7f0000000000 of size 64 bytes"),
         "misaligned access in kernel scale: 16 bytes at an address inside an allocation of 64 bytes (global memory): thread (3, 0, 0) of block (2, 1, 0) reads at kernels/scale.cu:7"),
        (("Invalid __global__ atomic of size 4 bytes", "at 0x578 in /tmp/kernels/old.cu:120:sum(float*)", BY, "Address 0x7f8000000000 is out of bounds"),
         "out of bounds in kernel sum: 4 bytes at 0x7f8000000000 (global memory), which is no tensor's: thread (3, 0, 0) of block (2, 1, 0) updates atomically at kernels/old.cu:120"),
        (("Barrier error detected. Divergent thread(s) in block.", "at [clone mine(int *)] outlined()+0x11f0 in kernels/sync.cu:42", BY, "Device Frame: mine(int *)+0xe40 in kernels/sync.cu:60"),
         "divergent barrier in kernel mine: divergent thread(s) in block: thread (3, 0, 0) of block (2, 1, 0) waits at kernels/sync.cu:42"),
        (("Barrier error detected. Invalid arguments", "at __cuda_sm70_warpsync+0x30", BY, "Device Frame:__syncwarp(unsigned int)+0xf0 in /usr/include/intrinsics.hpp:110", "Device Frame:mine(int *)+0x3c0 in /x/kernels/warp.cu:48"),
         "mismatched mask in kernel mine: invalid arguments: thread (3, 0, 0) of block (2, 1, 0) waits at kernels/warp.cu:48"),
        (("Error: Race reported between Write access at sum(int *)+0x90 in kernels/r.cu:41", "and Read access at sum(int *)+0x100 in kernels/r.cu:51 [508 hazards]"),
         "data race in kernel sum: shared memory; no __syncthreads() is between: a thread writes at kernels/r.cu:41; a thread read it at kernels/r.cu:51"),
        (("Warning: (Warp Level Programming) Potential RAW hazard detected at __shared__ 0x8c in block (0,0,0) :", "Write Thread (35,0,0) at sum(int *)+0x90 in kernels/w.cu:44", "Read Thread (32,0,0) at sum(int *)+0x120 in kernels/w.cu:56", "Current Value : 35"),
         "data race in kernel sum: byte 140 of the block's shared memory; no __syncwarp is between: thread (32, 0, 0) of block (0, 0, 0) reads at kernels/w.cu:56; thread (35, 0, 0) of block (0, 0, 0) wrote it at kernels/w.cu:44"),
        (("Deadlock detected in Cuda::barrier wait called by threads starting at (0,0,0) in block (0,0,0), (active mask: 0xffffffff), barrier address: 0x0 at mine+0x1190 in kernels/d.cu:98",),
         "deadlock in kernel mine: threads wait at a barrier that the others do not reach: a thread waits at kernels/d.cu:98"),
    ],
)  # fmt: skip
def test_a_report_is_told_in_the_words_of_the_memory_check(
    lines: tuple[str, ...], expected: str
) -> None:
    finding = found(*lines)
    assert finding is not None
    assert str(finding) == expected
    assert finding.kind in KINDS
    assert remedy(finding)


@pytest.mark.parametrize(
    "line",
    [
        "COMPUTE-SANITIZER",
        "ERROR SUMMARY: 2 errors",
        "RACECHECK SUMMARY: 100 hazards displayed (1025 errors, 0 warnings)",
        "Leaked 64 bytes at 0x400200200",
        'Program hit cudaErrorMemoryAllocation (error 2) due to "out of memory" on CUDA API call to cudaMalloc.',
        "Error: Potential WAW hazard detected at __shared__ 0x0 in block (0,0,0) :",
    ],
)
def test_other_lines_are_no_findings(line: str) -> None:
    assert found(line) is None
