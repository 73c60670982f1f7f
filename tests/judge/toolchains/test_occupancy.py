"""Occupancy by the rules, against figures that are known: NVIDIA's tables and an H200's driver."""

from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.occupancy import CAPABILITIES, occupancy_of

KIB = 1 << 10
H200 = [
    (30, 32, 9, 32), (30, 32, 16392, 13), (30, 64, 9, 32), (30, 64, 1008, 32),
    (30, 64, 16392, 13), (30, 96, 8, 21), (30, 96, 9, 21), (30, 96, 1008, 21), (30, 192, 8, 10),
    (30, 192, 1008, 10), (30, 320, 8200, 6), (30, 384, 8200, 5), (30, 384, 33008, 5),
    (40, 32, 9220, 22), (40, 64, 2028, 24), (40, 64, 9220, 22), (40, 64, 17412, 12),
    (40, 96, 1029, 16), (40, 96, 9220, 16), (40, 128, 9220, 12), (40, 256, 2028, 6),
    (40, 320, 66564, 3), (40, 384, 66564, 3), (60, 32, 12292, 17), (60, 32, 20484, 10),
    (78, 32, 9, 24), (78, 32, 8200, 24), (78, 32, 16392, 13), (78, 64, 33008, 6),
    (90, 32, 8, 20), (90, 32, 9, 20), (90, 32, 1008, 20), (90, 96, 49160, 4), (90, 192, 9, 3),
    (90, 320, 8200, 2), (110, 32, 12004, 16), (110, 32, 28388, 7), (110, 64, 28388, 7),
    (110, 64, 212004, 1), (110, 96, 45004, 5), (110, 192, 61156, 2), (110, 256, 162004, 1),
    (148, 32, 16392, 12), (174, 64, 32772, 4), (174, 64, 33772, 4), (254, 32, 9, 8),
    (254, 32, 16392, 8), (254, 320, 65544, 0), (254, 1000, 65544, 0), (255, 32, 16392, 8),
    (255, 96, 9, 2), (255, 256, 49160, 1), (255, 1000, 200008, 0),
]  # fmt: skip
"""Registers, threads and bytes of shared memory of a block, and the blocks that
cudaOccupancyMaxActiveBlocksPerMultiprocessor gave: out of 1,560 launches of eleven kernels."""


@pytest.mark.parametrize(
    ("capability", "threads", "registers", "shared", "blocks", "limited_by"),
    [
        # Nothing limits: every warp is resident.
        ((9, 0), 256, 32, 0, 8, None),
        ((8, 0), 1024, 32, 0, 2, None),
        ((7, 5), 1024, 64, 0, 1, None),
        ((8, 6), 512, 40, 0, 3, None),
        # Registers: handed out by the warp in units of 256, from a quarter of the file.
        ((8, 0), 128, 64, 0, 8, "registers"),
        ((7, 0), 128, 37, 0, 12, "registers"),
        ((9, 0), 256, 255, 0, 1, "registers"),
        ((8, 9), 256, 128, 0, 2, "registers"),
        ((9, 0), 1024, 33, 0, 1, "registers"),
        # Shared memory: from 8.0 on the system takes 1 KiB of each block.
        ((8, 0), 128, 32, 48 * KIB, 3, "shared memory"),
        ((7, 5), 128, 32, 48 * KIB, 1, "shared memory"),
        ((7, 0), 128, 32, 48 * KIB, 2, "shared memory"),
        ((9, 0), 256, 32, 100 * KIB, 2, "shared memory"),
        ((9, 0), 256, 32, 227 * KIB, 1, "shared memory"),
        ((8, 6), 256, 32, 99 * KIB, 1, "shared memory"),
        ((12, 0), 256, 32, 33 * KIB, 2, "shared memory"),
        # Blocks too small: there are not enough of them.
        ((8, 0), 32, 16, 0, 32, "blocks"),
        ((8, 6), 64, 16, 0, 16, "blocks"),
        ((8, 9), 32, 16, 0, 24, "blocks"),
        ((10, 0), 32, 16, 0, 32, "blocks"),
        # Blocks of a size that does not divide what is there.
        ((8, 6), 1024, 32, 0, 1, "block size"),
        ((12, 0), 1024, 32, 0, 1, "block size"),
        ((9, 0), 768, 32, 0, 2, "block size"),
        # Two at once, and none at all.
        ((8, 0), 256, 64, 40 * KIB, 4, "registers and shared memory"),
        ((7, 5), 128, 32, 65 * KIB, 0, "shared memory"),
    ],
)
def test_blocks_and_what_limits_them(
    capability: tuple[int, int],
    threads: int,
    registers: int,
    shared: int,
    blocks: int,
    limited_by: str | None,
) -> None:
    found = occupancy_of(
        capability, block_threads=threads, registers=registers, shared_bytes=shared
    )
    assert (found.blocks, found.limited_by) == (blocks, limited_by)
    assert found.warps == blocks * -(-threads // 32)
    assert found.fraction == found.warps / CAPABILITIES[capability].warps


@pytest.mark.parametrize(("registers", "threads", "shared", "blocks"), H200)
def test_the_blocks_are_those_that_the_driver_of_a_gpu_gives(
    registers: int, threads: int, shared: int, blocks: int
) -> None:
    found = occupancy_of((9, 0), block_threads=threads, registers=registers, shared_bytes=shared)
    assert found.blocks == blocks


def test_the_registers_that_let_in_another_block_do_so_and_one_more_does_not() -> None:
    found = occupancy_of((9, 0), block_threads=256, registers=128)
    more = found.registers_for_more
    assert more is not None
    fewer, same = (occupancy_of((9, 0), block_threads=256, registers=n) for n in (more, more + 1))
    assert fewer.blocks > found.blocks == same.blocks


@pytest.mark.parametrize("capability", list(CAPABILITIES))
def test_more_of_anything_never_raises_the_occupancy(capability: tuple[int, int]) -> None:
    def warps(registers: int, shared: int) -> int:
        return occupancy_of(
            capability, block_threads=192, registers=registers, shared_bytes=shared
        ).warps

    by_registers = [warps(n, 0) for n in range(1, 256)]
    by_shared = [warps(32, n * KIB) for n in range(64)]
    assert by_registers == sorted(by_registers, reverse=True)
    assert by_shared == sorted(by_shared, reverse=True)


@pytest.mark.parametrize(
    ("capability", "threads", "registers"),
    [((3, 5), 256, 32), ((9, 0), 2048, 32), ((9, 0), 0, 32), ((9, 0), 256, 256)],
)
def test_what_no_known_gpu_launches_is_refused(
    capability: tuple[int, int], threads: int, registers: int
) -> None:
    with pytest.raises(ValueError, match=r"known|launches"):
        occupancy_of(capability, block_threads=threads, registers=registers)
