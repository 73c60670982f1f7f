from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from cuda_gym.errors import NotAdmitted
from cuda_gym.judge.verification.memory import gold_chunks, peak_bytes
from cuda_gym.judge.verification.reference_module import ReferenceModule

MakeReference = Callable[..., ReferenceModule]


def test_what_died_is_not_counted_and_what_is_shared_counts_once() -> None:
    x = torch.ones(1000)

    def chain() -> torch.Tensor:
        y = x
        for _ in range(10):
            y = y + 1
        return y.view(10, 100).t()

    result, peak = peak_bytes(chain, [x, x.view(10, 100)])
    assert result.shape == (100, 10)
    assert peak == 3 * 4000


def chunks(reference: ReferenceModule, memory_bytes: int | None) -> int:
    model, inputs = reference.make_model(0), reference.make_inputs(0)
    return gold_chunks(reference, model, inputs, peak=1000, memory_bytes=memory_bytes)


@pytest.mark.parametrize(("memory_bytes", "number"), [(None, 1), (3000, 1), (2000, 2), (1100, 20)])
def test_gold_is_cut_as_far_as_memory_demands(
    make_reference: MakeReference, memory_bytes: int | None, number: int
) -> None:
    reference = make_reference("return x * 2, y", "torch.rand(rows, cols)", "torch.rand(rows)")
    assert chunks(reference, memory_bytes) == number


@pytest.mark.parametrize(
    ("body", "inputs"),
    [
        ("return x.softmax(0)", ["torch.rand(rows, cols)"]),
        ("return x.mean()", ["torch.rand(rows, cols)"]),
        ("return x + y", ["torch.rand(rows, cols)", "torch.rand(cols)"]),
        ("return x.view(64, -1)", ["torch.rand(rows, cols)"]),
        ("return x * 2", ["torch.rand(1, cols)"]),
    ],
)
def test_what_is_no_batch_cannot_be_cut(
    make_reference: MakeReference, body: str, inputs: list[str]
) -> None:
    with pytest.raises(NotAdmitted, match="Make its shapes smaller"):
        chunks(make_reference(body, *inputs), 2000)
