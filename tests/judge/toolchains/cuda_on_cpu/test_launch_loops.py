"""The loop over the threads of a block is vectorised, whichever axis of the grid walks over columns."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

KERNEL = """
__global__ void scale_kernel(float* __restrict__ out, const float* __restrict__ x, int columns) {
    const int column = blockIdx.COLUMNS * blockDim.x + threadIdx.x;
    if (column < columns) {
        const size_t i = (size_t)blockIdx.ROWS * columns + column;
        out[i] = x[i] < 0.0f ? 0.0f : x[i] * 3.0f + 1.0f;
    }
}

extern "C" int scale(float* out, const float* x, int rows, int columns) {
    const int blocks = (columns + 255) / 256;
    scale_kernel<<<GRID, 256>>>(out, x, columns);
    return 0;
}
"""
ROWS, COLUMNS = 64, 1024


def _fastest_s(program: Any) -> float:
    """Of many calls, on arrays that stay in the cache."""
    x, out = np.ones((ROWS, COLUMNS), np.float32), np.zeros((ROWS, COLUMNS), np.float32)
    program.runtime.set_num_threads(1)
    times = []
    for _ in range(200):
        start = time.perf_counter()
        program("scale", out, x, ROWS, COLUMNS)
        times.append(time.perf_counter() - start)
    program.runtime.set_num_threads(2)
    assert (out == 4.0).all()
    return min(times)


@pytest.mark.parametrize(
    ("axis", "grid"), [("y", "dim3(rows, blocks)"), ("z", "dim3(rows, 1, blocks)")]
)
def test_columns_along_another_axis_of_the_grid_cost_no_vectors(
    axis: str, grid: str, compile_source: Callable[[str], Any]
) -> None:
    text = KERNEL.replace("COLUMNS", "x").replace("ROWS", "y").replace("GRID", "dim3(blocks, rows)")
    along_x = compile_source(text)
    text = KERNEL.replace("COLUMNS", axis).replace("ROWS", "x").replace("GRID", grid)
    along_other = compile_source(text)
    # Without vectors it takes more than four times as long.
    assert _fastest_s(along_other) < 2.5 * _fastest_s(along_x)
