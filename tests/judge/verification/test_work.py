from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from cuda_gym.core.plain import as_plain
from cuda_gym.judge.verification.work import read_work, work_of


class Attention(nn.Module):
    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v)


class Triangle(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.tril(x)


class Argmax(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.argmax(dim=1)


class Product(nn.Module):
    def forward(self, a: Tensor, x: Tensor) -> Tensor:
        return a @ x


class Half(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.where(x > 0, x, 0 * x)


class Picky(nn.Module):
    """Raises where it meets a NaN."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 4))

    def forward(self, x: Tensor) -> Tensor:
        if self.weight.isnan().any():
            raise ArithmeticError("NaN")
        return x * self.weight.relu()[0]


def rand(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("model", "inputs", "read", "written", "flops"),
    [
        (nn.ReLU(), [rand(64, 64)], 16384, 16384, 4096),
        (nn.Linear(32, 8), [rand(4, 32)], 4 * (4 * 32 + 8 * 32 + 8), 128, 2 * 4 * 32 * 8),
        (nn.Conv2d(3, 4, 3, bias=False), [rand(1, 3, 8, 8)], 1200, 576, 2 * 36 * 4 * 27),
        (Attention(), [rand(1, 2, 16, 8) for _ in "qkv"], 3072, 1024, 2 * 2 * 2 * 16 * 16 * 8),
        (nn.MaxPool2d(2), [rand(1, 1, 8, 8)], 256, 64, 64),
        (Product(), [rand(6, 8), rand(8)], 4 * (48 + 8), 24, 2 * 48),
        (Argmax(), [rand(8, 8)], 256, 64, 64),
    ],
)
def test_every_byte_counts_once_and_products_by_their_formula(
    model: nn.Module, inputs: list[Tensor], read: int, written: int, flops: float
) -> None:
    work = work_of(model, inputs)
    assert (work.read_bytes, work.written_bytes, work.flops) == (read, written, flops)


def test_rows_that_are_not_looked_up_do_not_count() -> None:
    work = work_of(nn.Embedding(1000, 16), [torch.tensor([1, 2, 2, 5])])
    assert work.read_bytes == 3 * 16 * 4 + 4 * 8
    assert work.flops == 0, "it only copies"


def test_the_other_half_of_a_triangle_does_not_count() -> None:
    assert work_of(Triangle(), [rand(8, 8)]).read_bytes == 36 * 4


def test_elements_that_are_only_compared_count() -> None:
    assert work_of(Half(), [rand(8, 8)]).read_bytes == 256


def test_a_reference_that_raises_on_nan_needs_every_byte_and_keeps_its_weights() -> None:
    model = Picky()
    assert work_of(model, [rand(2, 4)]).read_bytes == 4 * (8 + 16)
    assert torch.equal(model.weight, torch.ones(4, 4))


def test_arithmetic_that_nobody_counts_is_unknown() -> None:
    assert work_of(nn.LSTM(4, 4), [rand(3, 2, 4)]).flops is None


def test_inputs_and_parameters_are_left_as_they_were() -> None:
    model, x = nn.Embedding(10, 4), torch.tensor([1, 2])
    y = rand(1, 4).expand(3, 4)
    before = model.weight.detach().clone()
    work_of(model, [x])
    work_of(nn.ReLU(), [y])
    assert torch.equal(model.weight, before)
    assert not y.requires_grad
    assert y.isfinite().all()


@pytest.mark.parametrize("plain", [None, {}, {"read_bytes": "x", "written_bytes": 1, "flops": 1}])
def test_what_cannot_be_read_is_none(plain: dict[str, Any] | None) -> None:
    assert read_work(plain) is None
    work = work_of(nn.ReLU(), [rand(2, 2)])
    assert read_work(as_plain(work)) == work
