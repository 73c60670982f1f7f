from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from cuda_gym.judge.verification.edges import extremes_at_edges
from cuda_gym.judge.verification.inputs import DrawKind, draw_inputs
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial

MakeReference = Callable[..., ReferenceModule]


def moved(tensor: Tensor, seed: int = 1) -> Tensor:
    return extremes_at_edges(tensor, torch.Generator().manual_seed(seed))


def share_at(tensor: Tensor, place: int, dimension: int) -> float:
    """How many of the lines along a dimension have their largest element at a place."""
    return float((tensor.argmax(dimension) == place).float().mean())


@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_many_lines_of_every_dimension_have_their_largest_element_at_either_end(
    dimension: int,
) -> None:
    x = moved(torch.randn(65, 67, 131, generator=torch.Generator().manual_seed(0)))
    for place in (0, x.shape[dimension] - 1):
        assert share_at(x, place, dimension) > 0.04


def test_nothing_is_lost_and_the_seed_decides() -> None:
    x = torch.randn(40, 50)
    assert torch.equal(moved(x).flatten().sort()[0], x.flatten().sort()[0])
    assert torch.equal(moved(x), moved(x))
    assert not torch.equal(moved(x), moved(x, seed=2))


@pytest.mark.parametrize(
    "ordered",
    [
        torch.randn(33, 33).triu(),
        torch.eye(33) * 40.0 + torch.rand(2, 33, 33),
        torch.randn(9, 40).sort(dim=0)[0].sort(dim=1)[0],
        (lambda a: a + a.mT)(torch.randn(17, 17)),
        torch.arange(100.0),
        torch.randn(7, 3),
        torch.randn(()),
    ],
)
def test_what_has_an_order_of_its_own_stays(ordered: Tensor) -> None:
    assert torch.equal(moved(ordered), ordered)


def test_a_search_that_leaves_out_the_last_column_is_found_by_the_larger_shape(
    make_reference: MakeReference,
) -> None:
    reference = make_reference("return x.argmax(dim=1)", "torch.randn(rows, cols)")
    model = reference.make_model(0)
    draw = draw_inputs(reference, DrawKind.LARGER_SHAPE, 5, {"rows": (33, 73), "cols": (129, 289)})
    trial = Trial.of(reference, model, draw)
    (x,) = draw.inputs
    assert x.shape == (73, 289)
    assert trial.accepts([x.argmax(dim=1)])
    assert not trial.accepts([x[:, :-1].argmax(dim=1)])
    assert not trial.accepts([x[:, 1:].argmax(dim=1) + 1])


def test_without_a_free_dimension_nothing_is_moved(make_reference: MakeReference) -> None:
    reference = make_reference("return x", "torch.randn(rows, cols)")
    plain, larger = (
        draw_inputs(reference, kind, 5).inputs[0]
        for kind in (DrawKind.ORDINARY, DrawKind.LARGER_SHAPE)
    )
    assert torch.equal(plain, larger)
