"""Random kernels give on the cpu device what a sequential interpreter of their trees gives."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.judge.toolchains.cuda_on_cpu.generated.interpreter import Results, interpreted
from tests.judge.toolchains.cuda_on_cpu.generated.printing import (
    NUM_BLOCKS,
    printed,
    printed_kernel,
)
from tests.judge.toolchains.cuda_on_cpu.generated.strategies import kernels
from tests.judge.toolchains.cuda_on_cpu.generated.trees import (
    FLOAT,
    INPUT_SIZE,
    NUM_SUMS,
    UNSIGNED,
    Array,
    Kernel,
)

_A_FILE = 24
_RANDOM = np.random.default_rng(7)
INPUTS: dict[str, Array] = {
    UNSIGNED: _RANDOM.integers(0, 2**32, INPUT_SIZE, np.uint32),
    FLOAT: _RANDOM.uniform(-100, 100, INPUT_SIZE).astype(np.float32),
}


def generated(count: int, *, is_derandomised: bool) -> list[Kernel]:
    """Kernels as hypothesis thinks of them; collected, since a compiler wants many at once."""
    found: list[Kernel] = []

    @settings(
        max_examples=count,
        derandomize=is_derandomised,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(kernels())
    def collect(kernel: Kernel) -> None:
        found.append(kernel)

    collect()
    return found


def run(program: Any, number: int, kernel: Kernel) -> Results:
    """What the cpu device computes."""
    threads = NUM_BLOCKS * kernel.block_size
    out, floats = np.zeros((threads, 3), np.uint32), np.zeros((threads, 2), np.float32)
    sums = np.zeros((3, NUM_SUMS), np.uint32)
    program(f"run_{number}", INPUTS[UNSIGNED], INPUTS[FLOAT], out, floats, sums)
    return Results(out, floats, sums)


def agree(got: Results, expected: Results) -> bool:
    """Integers bit by bit; of floats, a NaN is as good as another one, and so is a zero."""
    return (
        np.array_equal(got.out, expected.out)
        and np.array_equal(got.sums, expected.sums)
        and np.array_equal(got.floats, expected.floats, equal_nan=True)
    )


def check(trees: Sequence[Kernel], compile_source: Callable[[str], Any]) -> None:
    """Build in files of many kernels, and show the shortest one that is wrong."""
    files = [trees[first : first + _A_FILE] for first in range(0, len(trees), _A_FILE)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        programs = list(pool.map(lambda file: compile_source(printed(file)), files))
    wrong = []
    for file, program in zip(files, programs, strict=True):
        for number, kernel in enumerate(file):
            got, expected = run(program, number, kernel), interpreted(kernel, INPUTS, NUM_BLOCKS)
            if not agree(got, expected):
                wrong.append((printed_kernel(kernel), got, expected))
    if wrong:
        text, got, expected = min(wrong, key=lambda each: len(each[0]))
        pytest.fail(f"{len(wrong)} of {len(trees)} kernels differ: {text}\n{got}\n{expected}")


def test_the_generator_knows_every_statement() -> None:
    text = printed(generated(200, is_derandomised=True))
    for part in (
        *("__syncthreads()", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"),
        *("__syncwarp", "__shfl_sync", "__shfl_xor_sync", "__shfl_up_sync", "__shfl_down_sync"),
        *("__ballot_sync", "__any_sync", "__all_sync", "__match_any_sync", "__reduce_add_sync"),
        *("atomicAdd(&sums", "atomicMax", "atomicXor", "atomicAdd(&s[", "everyone_1_0", "for ("),
    ):
        assert part in text, part


def test_generated_kernels_agree_with_the_interpreter(
    compile_source: Callable[[str], Any],
) -> None:
    check(generated(96, is_derandomised=True), compile_source)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_more_generated_kernels_agree_with_the_interpreter(
    compile_source: Callable[[str], Any],
) -> None:
    check(generated(840, is_derandomised=False), compile_source)
