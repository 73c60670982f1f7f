from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.judge.toolchains.cuda_library_cases import TOLERANCE, require_right, results

from cuda_gym.judge.toolchains.cuda_library import library_calls

CPU = torch.device("cpu")


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_library_computes_while_torch_refuses(dtype: str) -> None:
    require_right(results("cpu"), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_the_library_computes_without_the_fast_convolutions(dtype: str) -> None:
    require_right(results("cpu", "without"), dtype)


def test_torch_refuses_after_a_library_call() -> None:
    assert "torch.mm is not allowed" in results("cpu")["refused"]


def test_every_call_is_told() -> None:
    found = results("cpu")
    assert found["told"] == [name.split()[0] for name in found["cases"]]


def calls(device: torch.device = CPU) -> Any:
    return library_calls(("gemm", "bmm", "conv"), lambda name: None, device)


A, IMAGE, WEIGHT = torch.zeros(2, 3), torch.zeros(1, 4, 8, 8), torch.zeros(6, 4, 3, 3)


@pytest.mark.parametrize(
    ("name", "arguments", "named", "kind", "fact"),
    [
        ("gemm", (A, A), {}, ValueError, "a is [2, 3] and b is [2, 3]"),
        ("gemm", (A[0], A), {}, ValueError, "a is [3]; it must have 2 dimensions"),
        ("gemm", (A, A.t().double()), {}, TypeError, "b is torch.float64; all tensors"),
        ("gemm", (A.int(), A.t().int()), {}, TypeError, "a is torch.int32"),
        ("gemm", (A.to("meta"), A.t()), {}, ValueError, "a is a dense tensor on meta; it must be"),
        ("gemm", (A.to_sparse(), A.t()), {}, ValueError, "a is a sparse tensor on cpu"),
        ("gemm", ([[1.0]], A), {}, TypeError, "a is a list"),
        ("gemm", (A, A.t()), {"out": torch.zeros(3, 3)}, ValueError, "contiguous and [2, 2]"),
        ("gemm", (A, A.t()), {"bias": A[0]}, ValueError, "bias is [3]; it must expand to [2, 2]"),
        ("gemm", (A, A.t()), {"bias": A[None]}, ValueError, "bias is [1, 2, 3]"),
        ("bmm", (A[None], A[None]), {}, ValueError, "a is [1, 2, 3]"),
        ("conv", (IMAGE, WEIGHT[:, :3]), {}, ValueError, "x has 4 channels"),
        ("conv", (IMAGE, WEIGHT), {"groups": 0}, ValueError, "groups=0"),
        ("conv", (IMAGE, WEIGHT[0]), {}, ValueError, "3, 4 or 5 dimensions"),
        ("conv", (IMAGE, WEIGHT, torch.zeros(4)), {}, ValueError, "bias is [4]; it must be [6]"),
        ("conv", (IMAGE, WEIGHT), {"stride": (1, 2, 3)}, ValueError, "(1, 2, 3)"),
        ("conv", (IMAGE, WEIGHT), {"padding": "same"}, ValueError, "'same'"),
        ("conv", (IMAGE, WEIGHT), {"stride": 0}, ValueError, "stride=[0, 0]"),
        ("conv", (IMAGE, WEIGHT), {"padding": -1}, ValueError, "padding=[-1, -1]"),
        ("conv", (IMAGE, WEIGHT), {"dilation": 4}, ValueError, "covers [9, 9] of them"),
        ("conv", (IMAGE, WEIGHT[..., :0]), {}, ValueError, "it must not be empty"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(
    name: str, arguments: tuple[Any, ...], named: dict[str, Any], kind: type[Exception], fact: str
) -> None:
    with pytest.raises(kind) as caught:
        calls()[name](*arguments, **named)
    assert f"library.{name}: " in str(caught.value)
    assert fact in str(caught.value)


def test_an_output_that_does_not_fit_is_not_written_to() -> None:
    out = torch.full((1, 6, 7, 7), 3.0)
    with pytest.raises(ValueError, match=r"it must be contiguous and \[1, 6, 6, 6\]"):
        calls()["conv"](IMAGE, WEIGHT, out=out)
    assert bool((out == 3.0).all())
