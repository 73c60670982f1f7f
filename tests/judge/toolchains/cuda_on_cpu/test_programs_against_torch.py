"""Operators written in CUDA (`tests/cuda_programs/against_torch`) agree with PyTorch's own."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

PROGRAMS = Path(__file__).parents[3] / "cuda_programs" / "against_torch"
Launch = Callable[..., int]


@pytest.fixture(scope="module")
def builds(compile_source: Callable[[str], Any]) -> Iterator[dict[str, Future[Any]]]:
    """All programs, built side by side."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        yield {
            path.stem: pool.submit(compile_source, path.read_text())
            for path in PROGRAMS.glob("*.cu")
        }


@pytest.fixture
def launch(builds: dict[str, Future[Any]]) -> Launch:
    """Call `program.launcher` with tensors and numbers."""

    def call(name: str, *arguments: Any) -> int:
        program, _, launcher = name.partition(".")
        return int(builds[program].result()(launcher, *map(_address, arguments)))

    return call


def _address(argument: Any) -> Any:
    if not isinstance(argument, Tensor):
        return argument
    assert argument.is_contiguous()
    return ctypes.c_void_p(argument.data_ptr())


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers that are the same in every run."""
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator).to(dtype)


def picks(high: int, *shape: int) -> Tensor:
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(high))


def agree(got: Tensor, expected: Tensor, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [(1, 1), (5, 33), (7, 300)])
@pytest.mark.parametrize(
    ("launcher", "dtype", "tolerance"),
    [("softmax_float", torch.float32, 1e-6), ("softmax_half", torch.float16, 1e-3)],
)
def test_softmax(
    launch: Launch, shape: tuple[int, int], launcher: str, dtype: torch.dtype, tolerance: float
) -> None:
    x = normal(*shape, dtype=dtype) * 5
    out = torch.empty_like(x)
    launch(f"softmax.{launcher}", x, out, *shape)
    agree(out, torch.softmax(x, -1), tolerance)


@pytest.mark.parametrize("shape", [(1, 5), (6, 96), (4, 301)])
def test_layernorm(launch: Launch, shape: tuple[int, int]) -> None:
    x, gain, bias = normal(*shape) * 3 + 1, normal(shape[1]), normal(shape[1]) * 2
    out = torch.empty_like(x)
    launch("layernorm.layernorm", x, gain, bias, out, *shape, 1e-5)
    agree(out, F.layer_norm(x, shape[1:], gain, bias, 1e-5))


@pytest.mark.parametrize("shape", [(1, 8), (9, 130)])
def test_rms_norm_in_bfloat16(launch: Launch, shape: tuple[int, int]) -> None:
    x, gain = normal(*shape, dtype=torch.bfloat16), normal(shape[1], dtype=torch.bfloat16)
    out = torch.empty_like(x)
    launch("layernorm.rms_norm", x, gain, out, *shape, 1e-6)
    agree(out, F.rms_norm(x.float(), shape[1:], gain.float(), 1e-6).bfloat16(), 1e-2)


@pytest.mark.parametrize("n", [1, 513, 4000])
@pytest.mark.parametrize(
    ("launcher", "approximate", "dtype", "tolerance"),
    [
        ("gelu_erf", "none", torch.float32, 1e-6),
        ("gelu_tanh", "tanh", torch.float32, 1e-6),
        ("gelu_half", "tanh", torch.float16, 1e-3),
    ],
)
def test_gelu(
    launch: Launch, n: int, launcher: str, approximate: str, dtype: torch.dtype, tolerance: float
) -> None:
    x = normal(n, dtype=dtype) * 3
    out = torch.empty_like(x)
    launch(f"gelu.{launcher}", x, out, n)
    agree(out, F.gelu(x, approximate=approximate), tolerance)


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (16, 32, 48), (33, 17, 70)])
@pytest.mark.parametrize(
    ("launcher", "dtype", "tolerance"),
    [("matmul", torch.float32, 1e-5), ("matmul_half", torch.float16, 2e-3)],
)
def test_matmul(
    launch: Launch, m: int, n: int, k: int, launcher: str, dtype: torch.dtype, tolerance: float
) -> None:
    a, b, c = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype), torch.empty(m, n, dtype=dtype)
    launch(f"matmul.{launcher}", a, b, c, m, n, k)
    agree(c, (a.double() @ b.double()).to(dtype), tolerance)


@pytest.mark.parametrize(("batches", "m", "n", "k"), [(1, 5, 7, 3), (4, 20, 35, 18)])
def test_bmm_with_a_transposed_factor(launch: Launch, batches: int, m: int, n: int, k: int) -> None:
    a, b, c = normal(batches, m, k), normal(batches, n, k), torch.empty(batches, m, n)
    launch("matmul.bmm_transposed", a, b, c, batches, m, n, k)
    agree(c, torch.bmm(a, b.transpose(1, 2)))


@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "dilation", "groups"),
    [(1, 1, 0, 1, 1), (3, 1, 1, 1, 1), (3, 2, 1, 1, 2), (3, 1, 2, 2, 4), (5, 3, 0, 1, 1)],
)
@pytest.mark.parametrize("has_bias", [True, False])
def test_conv2d(
    launch: Launch,
    kernel: int,
    stride: int,
    padding: int,
    dilation: int,
    groups: int,
    has_bias: bool,
) -> None:
    x, weight = normal(2, 4, 11, 14), normal(8, 4 // groups, kernel, kernel)
    bias = normal(8) if has_bias else None
    expected = F.conv2d(x, weight, bias, stride, padding, dilation, groups)
    out = torch.empty_like(expected)
    sizes = (2, 4, 11, 14, 8, kernel, stride, padding, dilation, groups)
    launch("conv2d.conv2d", x, weight, bias, out, *sizes)
    agree(out, expected)


@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 1), (3, 2)])
def test_max_pool_and_its_places(launch: Launch, size: int, stride: int) -> None:
    x = normal(3, 13, 18)
    expected, expected_places = F.max_pool2d(x, size, stride, return_indices=True)
    out, places = torch.empty_like(expected), torch.empty_like(expected_places)
    launch("pooling.max_pool", x, out, places, 3, 13, 18, size, stride)
    assert torch.equal(out, expected)
    assert torch.equal(places, expected_places)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_mean_pool(launch: Launch, size: int) -> None:
    x = normal(4, 10, 15)
    expected = F.avg_pool2d(x, size)
    out = torch.empty_like(expected)
    launch("pooling.mean_pool", x, out, 4, 10, 15, size)
    agree(out, expected, 1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (3, 32), (5, 101)])
def test_cumsum(launch: Launch, shape: tuple[int, int]) -> None:
    x, whole = normal(*shape).double(), picks(1 << 40, *shape)
    out, whole_out = torch.empty_like(x), torch.empty_like(whole)
    launch("cumsum.cumsum_double", x, out, *shape)
    launch("cumsum.cumsum_long", whole, whole_out, *shape)
    agree(out, x.cumsum(1), 1e-12)
    assert torch.equal(whole_out, whole.cumsum(1))


@pytest.mark.parametrize("shape", [(1, 1), (6, 40), (3, 500)])
def test_argmax_takes_the_first_of_equals(launch: Launch, shape: tuple[int, int]) -> None:
    x = normal(*shape).mul(2).round() - 3
    out = torch.empty(shape[0], dtype=torch.int64)
    launch("argmax.argmax", x, out, *shape)
    first = (x == x.amax(1, keepdim=True)).int().argmax(1)
    assert torch.equal(out, first)


@pytest.mark.parametrize(("columns", "count"), [(1, 3), (50, 80), (300, 20)])
def test_gather_and_scatter_add(launch: Launch, columns: int, count: int) -> None:
    x, index, out = normal(4, columns), picks(columns, 4, count), torch.empty(4, count)
    launch("indexing.gather", x, index, out, 4, columns, count)
    assert torch.equal(out, x.gather(1, index))
    sums = x.clone()
    launch("indexing.scatter_add", sums, index, out, 4, columns, count)
    agree(sums, x.scatter_add(1, index, out))


@pytest.mark.parametrize(("num_tokens", "width"), [(1, 2), (40, 66)])
def test_embedding_in_bfloat16(launch: Launch, num_tokens: int, width: int) -> None:
    table, tokens = normal(9, width, dtype=torch.bfloat16), picks(9, num_tokens)
    out = torch.empty(num_tokens, width, dtype=torch.bfloat16)
    launch("indexing.embedding", table, tokens, out, num_tokens, width)
    assert torch.equal(out, F.embedding(tokens, table))


def test_sums_of_bags_of_embeddings(launch: Launch) -> None:
    table, tokens, starts = normal(11, 37), picks(11, 30), torch.tensor([0, 4, 4, 29])
    out = torch.empty(4, 37)
    launch("indexing.bag_sums", table, tokens, starts, out, 4, 30, 37)
    agree(out, F.embedding_bag(tokens, table, starts, mode="sum"))


@pytest.mark.parametrize(("length", "heads", "dim"), [(1, 1, 2), (9, 3, 16), (5, 2, 80)])
def test_rotary_embedding(launch: Launch, length: int, heads: int, dim: int) -> None:
    x = normal(2, length, heads, dim)
    out = torch.empty_like(x)
    launch("rope.rope", x, out, 2, length, heads, dim, 10000.0)
    angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(dim // 2) / (dim // 2))
    turn = torch.polar(torch.ones_like(angles), angles)[:, None]
    turned = torch.complex(*x.chunk(2, -1)) * turn
    agree(out, torch.cat([turned.real, turned.imag], -1))


@pytest.mark.parametrize(("channels", "groups"), [(4, 1), (6, 3), (5, 5)])
def test_group_norm(launch: Launch, channels: int, groups: int) -> None:
    x, gain, bias = normal(2, channels, 7, 6) - 2, normal(channels), normal(channels) + 1
    out = torch.empty_like(x)
    launch("group_norm.group_norm", x, gain, bias, out, 2, channels, 42, groups, 1e-5)
    agree(out, F.group_norm(x, groups, gain, bias, 1e-5))


@pytest.mark.parametrize(("rows", "classes"), [(1, 2), (20, 10), (50, 130)])
def test_cross_entropy_ignores_rows_without_a_target(
    launch: Launch, rows: int, classes: int
) -> None:
    logits, targets, out = normal(rows, classes) * 4, picks(classes, rows), torch.empty(1)
    targets[3::7] = -100
    assert launch("cross_entropy.cross_entropy", logits, targets, out, rows, classes) == 0
    agree(out[0], F.cross_entropy(logits, targets))


@pytest.mark.parametrize(("columns", "k"), [(1, 1), (40, 40), (333, 5)])
def test_top_k(launch: Launch, columns: int, k: int) -> None:
    x, values, places = normal(3, columns), torch.empty(3, k), torch.empty(3, k, dtype=torch.int64)
    launch("top_k.top_k", x, values, places, 3, columns, k)
    expected = x.topk(k)
    assert torch.equal(values, expected.values)
    assert torch.equal(places, expected.indices)


@pytest.mark.parametrize("size", [(1, 1), (20, 9), (7, 31)])
@pytest.mark.parametrize("is_aligned", [True, False])
def test_bilinear_interpolation(launch: Launch, size: tuple[int, int], is_aligned: bool) -> None:
    x, out = normal(1, 3, 8, 11), torch.empty(1, 3, *size)
    launch("upsample.upsample", x, out, 3, 8, 11, *size, int(is_aligned))
    agree(out, F.interpolate(x, size, mode="bilinear", align_corners=is_aligned))


@pytest.mark.parametrize(("rows", "width"), [(1, 4), (7, 300)])
def test_swiglu_in_bfloat16(launch: Launch, rows: int, width: int) -> None:
    x, out = (
        normal(rows, 2 * width, dtype=torch.bfloat16),
        torch.empty(rows, width, dtype=torch.bfloat16),
    )
    launch("swiglu.swiglu", x, out, rows, width)
    gate, value = x.float().chunk(2, 1)
    agree(out, (F.silu(gate) * value).bfloat16(), 1e-2)


@pytest.mark.parametrize(("length", "dim"), [(1, 8), (20, 16), (140, 33)])
@pytest.mark.parametrize("is_causal", [True, False])
def test_attention(launch: Launch, length: int, dim: int, is_causal: bool) -> None:
    q, k, v = (normal(1, 2, length, dim) + shift for shift in (0, 0.1, 0.5))
    out = torch.empty_like(q)
    launch("attention.attention", q, k, v, out, 2, length, dim, int(is_causal))
    agree(out, F.scaled_dot_product_attention(q, k, v, is_causal=is_causal))


def test_adamw_follows_torch_over_several_steps(launch: Launch) -> None:
    parameter = torch.nn.Parameter(normal(1000))
    mine, means, squares = parameter.detach().clone(), torch.zeros(1000), torch.zeros(1000)
    optimizer = torch.optim.AdamW([parameter], lr=0.1, betas=(0.8, 0.95), weight_decay=0.2)
    for step in range(1, 4):
        gradient = normal(1000) / step
        parameter.grad = gradient.clone()
        optimizer.step()
        numbers = (1000, step, 0.1, 0.8, 0.95, 1e-8, 0.2)
        launch("adamw.adamw", mine, gradient, means, squares, *numbers)
    agree(mine, parameter.detach())
