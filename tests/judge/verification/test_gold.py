from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from cuda_gym.judge.verification.gold import (
    Gold,
    GoldKind,
    IndexOutput,
    find_index_outputs,
    gold_outputs,
    values_at,
)
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial

MakeReference = Callable[..., ReferenceModule]
MakeTrial = Callable[..., Trial]


def gold_of(reference: ReferenceModule, *, chunks: int = 1) -> tuple[Gold, list[torch.Tensor]]:
    model, inputs = reference.make_model(0), reference.make_inputs(1)
    eager = reference.run(model, inputs)
    return gold_outputs(model, inputs, eager, chunks=chunks), eager


def test_gold_is_double_precision_of_the_same_inputs_and_parameters(
    make_reference: MakeReference,
) -> None:
    reference = make_reference(
        "return self.l(x)", "torch.rand(rows, cols)", init="self.l = nn.Linear(256, 8)"
    )
    model, x = reference.make_model(0), reference.make_inputs(1)[0]
    gold, eager = gold_of(reference)
    weight, bias = (p.double() for p in model.parameters())
    assert gold.kind is GoldKind.FLOAT64
    assert torch.allclose(gold.outputs[0], x.double() @ weight.t() + bias, rtol=1e-14)
    assert eager[0].dtype == torch.float32
    assert next(model.parameters()).dtype == torch.float32, "the model itself stays"


def test_integer_tasks_are_exact(make_reference: MakeReference) -> None:
    gold, eager = gold_of(make_reference("return x * 2 + 1", "torch.randint(0, 9, (rows, cols))"))
    assert gold.kind is GoldKind.EXACT
    assert torch.equal(gold.outputs[0], eager[0])


@pytest.mark.parametrize(
    "body",
    [
        "return x.float() * 2",
        "return x @ torch.ones(256, 4)",
        "return x.view(torch.int32).float()",
    ],
)
def test_a_dtype_written_out_falls_back_to_eager(make_reference: MakeReference, body: str) -> None:
    gold, eager = gold_of(make_reference(body, "torch.rand(rows, cols)"))
    assert gold.kind is GoldKind.EAGER
    assert torch.equal(gold.outputs[0], eager[0])


@pytest.mark.parametrize("chunks", [2, 3, 64, 100])
def test_gold_in_pieces_is_the_gold_of_the_whole(
    make_reference: MakeReference, chunks: int
) -> None:
    reference = make_reference("return x.softmax(-1), x.sum(-1)", "torch.rand(rows, cols)")
    whole, pieces = gold_of(reference)[0], gold_of(reference, chunks=chunks)[0]
    assert pieces.kind is GoldKind.FLOAT64
    for one, other in zip(whole.outputs, pieces.outputs, strict=True):
        assert torch.allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("x.argmax(1)", IndexOutput(output=0, tensor=0, dim=1, keepdim=False)),
        ("x.argmin(0)", IndexOutput(output=0, tensor=0, dim=0, keepdim=False)),
        ("x.argmax(0, keepdim=True)", IndexOutput(output=0, tensor=0, dim=0, keepdim=True)),
        ("x.topk(5, dim=0)", IndexOutput(output=1, tensor=0, dim=0, keepdim=True)),
        ("x.sort(1)", IndexOutput(output=1, tensor=0, dim=1, keepdim=True)),
        ("y, x.argmax(0)", IndexOutput(output=1, tensor=0, dim=0, keepdim=False)),
    ],
)
def test_index_outputs_are_found_with_their_dimension(
    make_reference: MakeReference, body: str, rule: IndexOutput
) -> None:
    # A square input: shapes alone do not tell the dimension.
    reference = make_reference(f"return {body}", "torch.rand(64, 64)", "torch.rand(3)")
    inputs = reference.make_inputs(1)
    assert find_index_outputs(inputs, reference.run(reference.make_model(0), inputs)) == (rule,)


def test_integers_that_point_nowhere_are_no_index_outputs(make_reference: MakeReference) -> None:
    reference = make_reference("return (x > 0.5).sum(1)", "torch.rand(64, 64)")
    inputs = reference.make_inputs(1)
    assert find_index_outputs(inputs, reference.run(reference.make_model(0), inputs)) == ()


def test_any_of_equal_maxima_is_a_right_index(make_reference: MakeReference) -> None:
    reference = make_reference("return x.argmax(1)", "torch.rand(4, 64).mul(4).round()")
    model = reference.make_model(0)
    x = reference.make_inputs(1)[0]
    rule = IndexOutput(output=0, tensor=0, dim=1, keepdim=False)
    last = 63 - x.flip(1).argmax(1)
    assert not torch.equal(last, reference.run(model, [x])[0])
    assert torch.equal(values_at(last, [x], rule), x.amax(1))


def test_a_position_outside_is_an_error() -> None:
    rule = IndexOutput(output=0, tensor=0, dim=1, keepdim=False)
    for position in (-1, 3):
        with pytest.raises(IndexError, match=r"outside of 0\.\.2"):
            values_at(torch.tensor([position]), [torch.rand(1, 3)], rule)
