from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from cuda_gym.errors import NotAdmitted
from cuda_gym.judge.verification.admission import MIN_DRAWS, Admission, OutputSpec, admit
from cuda_gym.judge.verification.gold import GoldKind
from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.reference_module import ReferenceModule

MakeReference = Callable[..., ReferenceModule]

X = "torch.rand(rows, cols)"
LABELS = "torch.randint(0, cols, (rows,))"
RMS_NORM = "return y + self.w * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)"


@pytest.mark.parametrize(
    ("body", "inputs", "init"),
    [
        ("return F.gelu(x + self.w)", [X], "self.w = nn.Parameter(torch.zeros(256))"),
        ("return F.relu(x)", [X], "pass"),
        ("return x.softmax(-1)", [X], "pass"),
        (RMS_NORM, [X, X], "self.w = nn.Parameter(torch.ones(256))"),
        ("return x.sum(1)", [X], "pass"),
        ("return x.t().contiguous()", [X], "pass"),
        ("return F.relu(self.l(x))", [X], "self.l = nn.Linear(256, 64)"),
        ("return F.max_pool2d(x, 2)", ["torch.rand(2, 3, rows, rows)"], "pass"),
        ("return F.cross_entropy(x, y)", [X, LABELS], "pass"),
        ("return x.argmax(1)", [X], "pass"),
        ("return x.topk(3)", [X], "pass"),
        ("return self.b(x)", [X], "self.b = nn.BatchNorm1d(256)"),
        ("return (x > 0.5), x.tril()", [X], "pass"),
        ("return x * y", [X, "2.5"], "pass"),
        ("return x.double().cumsum(1)", [X], "pass"),
        ("return F.silu(x)", ["torch.randn(rows, cols).bfloat16()"], "pass"),
    ],
)
def test_common_operators_are_admitted(
    make_reference: MakeReference, body: str, inputs: list[str], init: str
) -> None:
    admission = admit(make_reference(body, *inputs, init=init), seed=3)
    assert len(admission.draw_kinds) >= MIN_DRAWS
    assert admission.draw_kinds[0] is DrawKind.ORDINARY
    assert {DrawKind.SPIKY, DrawKind.SMALLER_SHAPE, DrawKind.LARGER_SHAPE} <= set(
        admission.draw_kinds
    )
    assert "rows" in admission.free_dimensions


def test_an_admission_survives_json(make_reference: MakeReference) -> None:
    admission = admit(make_reference("return x.topk(3)", X), seed=3)
    assert admission.indices
    plain = json.loads(json.dumps(admission.as_plain()))
    assert Admission.from_plain(plain) == admission


def test_an_admission_says_what_was_found(make_reference: MakeReference) -> None:
    reference = make_reference("return self.l(x)", X, init="self.l = nn.Linear(256, 32)")
    admission = admit(reference, seed=3)
    assert admission.outputs == (OutputSpec(dtype="float32", shape=(64, 32)),)
    assert admission.gold is GoldKind.FLOAT64
    assert admission.free_dimensions == {"rows": (33, 73)}, "cols belongs to a parameter"
    assert admission.influential_bytes == 64 * 256 * 4
    assert 0.0 < admission.eager_errors["ordinary"] < 100.0
    assert admission.peak_bytes == 4 * (64 * 256 + 32 * 256 + 32 + 64 * 32)


def test_a_draw_that_eager_does_not_survive_is_left_out_and_noted(
    make_reference: MakeReference,
) -> None:
    admission = admit(make_reference("return x.log()", "torch.rand(rows, cols) + 0.1"), seed=3)
    assert DrawKind.SIGNED not in admission.draw_kinds
    assert DrawKind.TINY_SCALE in admission.draw_kinds
    assert any("signed" in note and "finite" in note for note in admission.notes)


LARGER_FAILS = "if len(x) > 64: raise {error}\n        return x * 2"


def test_what_is_left_out_for_want_of_memory_is_told_apart(make_reference: MakeReference) -> None:
    """It may be tried again: who held the memory may be gone."""
    body = LARGER_FAILS.format(error="MemoryError()")
    crowded = admit(make_reference(body, X), seed=3)
    assert crowded.lacked_memory
    assert DrawKind.LARGER_SHAPE not in crowded.draw_kinds or "rows" not in crowded.free_dimensions
    body = LARGER_FAILS.format(error="ValueError()")
    unable = admit(make_reference(body, X), seed=3)
    assert unable == replace(crowded, lacked_memory=False)


def test_the_ordinary_draw_is_repeated_where_the_harder_ones_say_nothing(
    make_reference: MakeReference,
) -> None:
    admission = admit(make_reference("return x * 2", "torch.randint(0, 9, (4, 64))"), seed=3)
    assert admission.draw_kinds == (DrawKind.ORDINARY,) * MIN_DRAWS
    assert admission.gold is GoldKind.EXACT


REFUSED = [
    ("return x.softmax(-1).sum(-1)", [X], "previous draw|constant"),
    ("return x * 0", [X], "previous draw|zeros"),
    ("return F.relu(x - 50).clamp(max=0)", [X], "previous draw|zeros"),
    ("return x", [X], "a copy of input 0"),
    ("return x, x * 2", [X], "a copy of input 0 as output 0"),
    ("return torch.cat([x, x * 0])", [X], "the first half, and zeros"),
    ("return 1.0 + x * 1e-9", [X], "would pass"),
    ("return (x + 3e3) - 3e3", [X], "eager PyTorch errs by"),
    ("return (x + 1e6) - 1e6", [X], "output 0 is not right itself"),
    ("return (x * 1e6).int()", [X], "output 0 is not right itself"),
    ("return x + torch.rand_like(x)", [X], "two runs"),
    ("return x.add_(1)", [X], "changes its input 0"),
    ("return x * 2 + 0 * y", [X, X], "input 1 does not matter"),
    ("return x * 2", [X, LABELS], "input 1 does not matter"),
    ("return x.log()", ["-" + X], "NaN or infinite"),
    ("return x[:0]", [X], "no elements"),
]


@pytest.mark.parametrize(("body", "inputs", "fact"), REFUSED)
def test_a_task_that_cannot_be_judged_is_refused_with_the_fact(
    make_reference: MakeReference, body: str, inputs: list[str], fact: str
) -> None:
    with pytest.raises(NotAdmitted, match=rf"test/task: .*({fact})"):
        admit(make_reference(body, *inputs), seed=3)


def test_relu_of_positive_numbers_is_admitted_because_a_signed_draw_tells_it_from_a_copy(
    make_reference: MakeReference,
) -> None:
    assert DrawKind.SIGNED in admit(make_reference("return F.relu(x)", X), seed=3).draw_kinds


def test_a_parameter_that_does_not_matter_is_named(make_reference: MakeReference) -> None:
    body = "h = self.l(x); return h - h.mean(0, keepdim=True)"
    reference = make_reference(body, X, init="self.l = nn.Linear(256, 32)")
    with pytest.raises(NotAdmitted, match=r"parameter 'l\.bias' does not matter"):
        admit(reference, seed=3)


def test_parameters_are_not_left_at_ones_and_zeros(make_reference: MakeReference) -> None:
    # At its initial value this factor makes every output zero.
    reference = make_reference("return x * self.w", X, init="self.w = nn.Parameter(torch.zeros(1))")
    assert admit(reference, seed=3).gold is GoldKind.FLOAT64


def test_a_task_that_does_not_fit_into_memory_is_refused(make_reference: MakeReference) -> None:
    with pytest.raises(NotAdmitted, match="one run holds 131,072 bytes"):
        admit(make_reference("return x * 2", X), seed=3, memory_bytes=100_000)


def test_gold_is_cut_along_the_batch_where_memory_is_short(make_reference: MakeReference) -> None:
    admission = admit(make_reference("return x * 2", X), seed=3, memory_bytes=200_000)
    assert admission.gold_chunks == 4
    with pytest.raises(NotAdmitted, match="its gold twice as many"):
        admit(make_reference("return x.softmax(0)", X), seed=3, memory_bytes=200_000)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_dtypes_are_admitted(make_reference: MakeReference, dtype: str) -> None:
    admission = admit(make_reference("return x.softmax(-1)", f"{X}.to(torch.{dtype})"), seed=3)
    assert admission.outputs[0].dtype == dtype
    assert getattr(torch, dtype).is_floating_point
