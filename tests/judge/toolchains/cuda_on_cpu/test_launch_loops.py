"""The loop over the threads of a block is vectorised, whichever axis of the grid walks over columns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import find_compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.native_build import compile_flags, framed
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite

KERNEL = """\
__global__ void scale_kernel(float* __restrict__ out, const float* __restrict__ x, int columns) {
    const int column = blockIdx.COLUMNS * blockDim.x + threadIdx.x;
    if (column < columns) {
        const size_t i = (size_t)blockIdx.ROWS * columns + column;
        out[i] = x[i] < 0.0f ? 0.0f : x[i] * 3.0f + 1.0f;
    }
}

extern "C" void scale(float* out, const float* x, int rows, int columns, cudaStream_t stream) {
    const int blocks = (columns + 255) / 256;
    scale_kernel<<<GRID, 256, 0, stream>>>(out, x, columns);
}
"""


@pytest.mark.skipif(not find_compiler().is_gcc, reason="only GCC tells which loops became vectors")
@pytest.mark.parametrize(
    ("columns", "rows", "grid"),
    [
        ("x", "y", "dim3(blocks, rows)"),
        ("y", "x", "dim3(rows, blocks)"),
        ("z", "x", "dim3(rows, 1, blocks)"),
    ],
)
def test_columns_along_any_axis_of_the_grid_become_vectors(
    columns: str, rows: str, grid: str, tmp_path: Path
) -> None:
    text = KERNEL.replace("COLUMNS", columns).replace("ROWS", rows).replace("GRID", grid)
    program = rewrite({"a.cu": text})
    source = program.files["a.cu"].text
    (tmp_path / "a.cu").write_text(
        framed(source, "a.cu", keeps_index=program.keeps_index, is_source=True)
    )
    compiler = find_compiler()
    told = [*compile_flags(compiler), "-fopt-info-vec-optimized", "-S", "a.cu", "-o", "a.s"]
    status, said = compiler.run(told, folder=tmp_path, deadline_s=60.0)
    assert status == 0
    assert "loop vectorized" in said, said or "no loop became vectors"
    # Where neighbours are not seen to be adjacent, they are picked up and put down one by one.
    assert not re.findall(r"v\w*(?:gather|scatter)\w*", (tmp_path / "a.s").read_text())
