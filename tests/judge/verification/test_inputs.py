from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from cuda_gym.judge.verification.inputs import (
    LARGE_OFFSET,
    Draw,
    DrawKind,
    draw_inputs,
    perturbed_state,
)
from cuda_gym.judge.verification.reference_module import ReferenceModule

MakeReference = Callable[..., ReferenceModule]

FREE = {"rows": (33, 73)}


@pytest.fixture
def reference(make_reference: MakeReference) -> ReferenceModule:
    return make_reference("return x", "torch.rand(rows, cols)", "torch.randint(0, 9, (rows,))", "3")


def draw(reference: ReferenceModule, kind: DrawKind, seed: int = 5) -> Draw:
    return draw_inputs(reference, kind, seed, FREE)


@pytest.mark.parametrize("kind", DrawKind)
def test_the_seed_decides_a_draw(reference: ReferenceModule, kind: DrawKind) -> None:
    first, again, other = (draw(reference, kind, seed) for seed in (5, 5, 6))
    assert torch.equal(first.inputs[0], again.inputs[0])
    assert not torch.equal(first.inputs[0], other.inputs[0])
    assert torch.equal(first.inputs[1], again.inputs[1])


@pytest.mark.parametrize("kind", [k for k in DrawKind if "SHAPE" not in k.name])
def test_integers_and_numbers_are_never_transformed(
    reference: ReferenceModule, kind: DrawKind
) -> None:
    plain = reference.make_inputs(5)
    drawn = draw(reference, kind).inputs
    assert torch.equal(drawn[1], plain[1])
    assert drawn[2] == 3


def test_every_kind_has_inputs_of_its_own(reference: ReferenceModule) -> None:
    drawn = [draw(reference, kind).inputs[0] for kind in DrawKind]
    for i, one in enumerate(drawn):
        assert not any(torch.equal(one, other) for other in drawn[:i])


def test_a_signed_draw_has_both_signs_and_reaches_both_tails(reference: ReferenceModule) -> None:
    x = draw(reference, DrawKind.SIGNED).inputs[0]
    assert abs(float(x.mean())) < 0.01
    assert float(x.min()) < -3.0
    assert float(x.max()) > 3.0


def test_a_large_offset_overflows_exp_and_keeps_the_spread(reference: ReferenceModule) -> None:
    plain, shifted = (
        draw(reference, kind).inputs[0] for kind in (DrawKind.ORDINARY, DrawKind.LARGE_OFFSET)
    )
    assert bool(shifted.exp().isinf().all())
    assert torch.allclose(shifted - LARGE_OFFSET, plain, atol=1e-4)


def test_a_tiny_scale_rounds_nothing(reference: ReferenceModule) -> None:
    plain, tiny = (
        draw(reference, kind).inputs[0] for kind in (DrawKind.ORDINARY, DrawKind.TINY_SCALE)
    )
    assert torch.equal(tiny * 2**6, plain)


def test_spikes_are_few_remembered_and_at_the_ends_and_tile_borders(
    reference: ReferenceModule,
) -> None:
    plain = draw(reference, DrawKind.ORDINARY).inputs[0]
    spiky = draw(reference, DrawKind.SPIKY)
    spikes = spiky.spikes[0]
    assert spikes is not None
    assert spiky.spikes[1] is None
    changed = (spiky.inputs[0] != plain).flatten().nonzero().flatten()
    assert torch.equal(changed, spikes)
    last_row = 63 * 256
    assert {0, 64 * 256 - 1, last_row, last_row + 31, last_row + 32, last_row + 128} <= set(
        spikes.tolist()
    )
    assert len(spikes) <= plain.numel() // 16
    assert float(spiky.inputs[0].flatten()[spikes].min()) > 100.0


def test_spikes_keep_the_sign(make_reference: MakeReference) -> None:
    reference = make_reference("return x", "-torch.rand(rows, cols)")
    assert float(draw(reference, DrawKind.SPIKY).inputs[0].max()) <= 0.0


def test_spikes_fit_into_float16(make_reference: MakeReference) -> None:
    reference = make_reference("return x", "torch.randn(rows, cols).half()")
    assert float(draw(reference, DrawKind.SPIKY).inputs[0].abs().max()) < 100.0


@pytest.mark.parametrize("kind", DrawKind)
@pytest.mark.parametrize("shape", ["()", "(1,)", "(3,)", "(0,)", "(2, 1)"])
def test_the_smallest_tensors_can_be_drawn(
    make_reference: MakeReference, kind: DrawKind, shape: str
) -> None:
    reference = make_reference("return x", f"torch.rand({shape})")
    assert bool(draw_inputs(reference, kind, 1).inputs[0].isfinite().all())


def test_labels_written_as_floats_stay_labels(make_reference: MakeReference) -> None:
    reference = make_reference("return x", "torch.randint(0, 2, (rows,)).float() * 2 - 1")
    for kind in (DrawKind.SIGNED, DrawKind.LARGE_OFFSET, DrawKind.SPIKY):
        assert set(draw_inputs(reference, kind, 1).inputs[0].tolist()) == {-1.0, 1.0}


@pytest.mark.parametrize("kind", DrawKind)
def test_a_triangular_matrix_stays_triangular(
    make_reference: MakeReference, kind: DrawKind
) -> None:
    reference = make_reference("return x @ x", "torch.randn(65, 65).triu()")
    x = draw_inputs(reference, kind, 1).inputs[0]
    assert torch.equal(x, x.triu())


@pytest.mark.parametrize("kind", DrawKind)
def test_a_symmetric_matrix_stays_symmetric(make_reference: MakeReference, kind: DrawKind) -> None:
    reference = make_reference("return x @ x", "(lambda a: a + a.mT)(torch.randn(2, 65, 65))")
    x = draw_inputs(reference, kind, 1).inputs[0]
    assert torch.equal(x, x.mT)


def test_free_dimensions_take_the_smaller_and_the_larger_value(reference: ReferenceModule) -> None:
    assert draw(reference, DrawKind.SMALLER_SHAPE).inputs[0].shape == (33, 256)
    assert draw(reference, DrawKind.LARGER_SHAPE).inputs[0].shape == (73, 256)
    assert draw(reference, DrawKind.LARGER_SHAPE).overrides == {"rows": 73}


def test_the_smallest_shape_leaves_two_or_three_of_each_free_dimension(
    reference: ReferenceModule,
) -> None:
    sizes = {"rows": (33, 73), "cols": (129, 289)}
    drawn = draw_inputs(reference, DrawKind.SMALLEST_SHAPE, 5, sizes)
    assert drawn.inputs[0].shape == (2, 3)
    assert draw_inputs(reference, DrawKind.SMALLEST_SHAPE, 5, {"rows": (1, 3)}).overrides == {
        "rows": 1
    }


def test_a_description_tells_shapes_and_no_values(reference: ReferenceModule) -> None:
    drawn = draw(reference, DrawKind.LARGE_OFFSET)
    assert "float32[64, 256], int64[64]" in drawn.description
    assert "shifted by 100" in drawn.description


class _Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(16)
        self.linear = nn.Linear(16, 16)
        self.tied = nn.Linear(16, 16, bias=False)
        self.tied.weight = self.linear.weight
        self.zeros = nn.Parameter(torch.zeros(16))
        self.single = nn.Parameter(torch.tensor(2.0))
        self.register_buffer("table", torch.arange(16.0))


def test_ones_zeros_and_weights_are_all_moved_at_their_scale() -> None:
    torch.manual_seed(0)
    model = _Parts()
    before, after = model.state_dict(), perturbed_state(model, 3)
    for name in ("norm.weight", "norm.bias", "linear.weight", "linear.bias", "zeros", "single"):
        assert bool((before[name] != after[name]).all()), name
    moved = (after["linear.weight"] - before["linear.weight"]).std()
    assert 0.1 < float(moved / before["linear.weight"].std()) < 1.0
    assert 0.05 < float(after["zeros"].abs().max()) < 0.5


def test_running_variances_move_and_stay_positive() -> None:
    model = _Parts()
    after = perturbed_state(model, 3)
    assert float(after["norm.running_var"].min()) > 0.5
    assert bool((after["norm.running_var"] != 1).all())
    assert bool((after["norm.running_mean"] != 0).any())


def test_other_buffers_and_ties_stay() -> None:
    model = _Parts()
    before, after = model.state_dict(), perturbed_state(model, 3)
    assert torch.equal(after["table"], before["table"])
    assert torch.equal(after["norm.num_batches_tracked"], before["norm.num_batches_tracked"])
    assert torch.equal(after["tied.weight"], after["linear.weight"])


def test_equal_seeds_give_equal_states_and_the_model_is_not_touched() -> None:
    model = _Parts()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    first, again, other = (perturbed_state(model, seed) for seed in (3, 3, 4))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["zeros"], other["zeros"])
    assert all(torch.equal(before[name], now) for name, now in model.state_dict().items())
