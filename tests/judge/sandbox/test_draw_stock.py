"""A draw that was made ahead is the one that was asked for, under the weights of now."""

from __future__ import annotations

from pathlib import Path

import torch
from tests.judge.sandbox.reference_parts import put_together


def test_a_draw_is_given_once_and_only_under_the_weights_that_it_was_made_under(
    tmp_path: Path,
) -> None:
    parts = put_together(tmp_path)
    assert parts.stock.prepare([{"weights": 3, "kind": "signed", "seed": 5}]) == 1
    parts.weights.move(4)
    assert parts.stock.take("signed", 5) is None
    parts.weights.move(3)
    assert parts.stock.take("ordinary", 5) is None
    assert parts.stock.take("signed", 5) is not None
    assert parts.stock.take("signed", 5) is None


def test_what_is_made_ahead_is_what_would_be_made_when_it_is_needed(tmp_path: Path) -> None:
    parts = put_together(tmp_path)
    parts.stock.prepare([{"weights": 3, "kind": "signed", "seed": 5}])
    ahead, needed = parts.stock.take("signed", 5), parts.stock.make("signed", 5)
    assert ahead is not None
    assert torch.equal(ahead.draw.inputs[0], needed.draw.inputs[0])
    assert torch.equal(ahead.expected[0].value, needed.expected[0].value)


def test_each_move_of_the_weights_begins_where_they_were_at_first(tmp_path: Path) -> None:
    weights = put_together(tmp_path).weights
    first = {name: tensor.clone() for name, tensor in weights.move(3).items()}
    second = weights.move(4)
    assert not torch.equal(second["layer.weight"], first["layer.weight"])
    again = weights.move(3)
    assert all(torch.equal(again[name], tensor) for name, tensor in first.items())
