from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
import torch
from tests.judge.toolchains.cuda_library_cases import TOLERANCE, require_right, results

from cuda_gym.judge.toolchains.cuda_library import library_calls

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]

GPU = torch.device("cuda", 0)


@pytest.fixture
def tf32_that_a_submission_switched_on() -> Iterator[None]:
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    yield
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def off(found: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest error, next to the largest value."""
    return float((found.cpu().double() - exact).abs().max() / exact.abs().max())


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_library_computes_while_torch_refuses(dtype: str) -> None:
    require_right(results("cuda"), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_library_computes_without_cudnn(dtype: str) -> None:
    require_right(results("cuda", "without"), dtype)


def test_torch_refuses_after_a_library_call() -> None:
    assert "torch.mm is not allowed" in results("cuda")["refused"]


@pytest.mark.usefixtures("tf32_that_a_submission_switched_on")
def test_products_are_exact_to_float32_unless_the_task_allows_tf32() -> None:
    a, b = torch.randn(256, 256, device=GPU), torch.randn(256, 256, device=GPU)
    exact = a.cpu().double() @ b.cpu().double()

    def error(*, allow_tf32: bool) -> float:
        calls = library_calls(("gemm",), lambda name: None, GPU, allow_tf32=allow_tf32)
        return off(calls["gemm"](a, b), exact)

    assert error(allow_tf32=False) < 1e-5
    if torch.cuda.get_device_capability(GPU) >= (8, 0):
        assert error(allow_tf32=True) > 3e-5
    assert error(allow_tf32=False) < 1e-5


@pytest.mark.usefixtures("tf32_that_a_submission_switched_on")
def test_convolutions_are_exact_to_float32_unless_the_task_allows_tf32() -> None:
    x, weight = torch.randn(4, 64, 16, 16, device=GPU), torch.randn(64, 64, 3, 3, device=GPU)
    exact = torch.conv2d(x.cpu().double(), weight.cpu().double())
    conv = library_calls(("conv",), lambda name: None, GPU)["conv"]
    assert off(conv(x, weight), exact) < 5e-5


def test_tensors_on_the_host_are_refused() -> None:
    gemm = library_calls(("gemm",), lambda name: None, GPU)["gemm"]
    with pytest.raises(ValueError, match=r"b is a dense tensor on cpu; it must be .* on cuda:0"):
        gemm(torch.zeros(2, 2, device=GPU), torch.zeros(2, 2))


def test_calls_run_on_the_current_stream() -> None:
    gemm = library_calls(("gemm",), lambda name: None, GPU)["gemm"]
    a = torch.randn(512, 512, device=GPU)
    out = torch.empty_like(a)
    stream: Any = cast("Any", torch.cuda.Stream)(GPU)
    with torch.cuda.stream(stream):
        expected = gemm(a, a)  # makes room for cuBLAS on this stream, which would wait
    stream.synchronize()
    out.zero_()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        cast("Any", torch.cuda)._sleep(100_000_000)
        gemm(a, a, out=out)
    before = out.clone()
    stream.synchronize()
    assert not bool(before.any())
    torch.testing.assert_close(out, expected)
