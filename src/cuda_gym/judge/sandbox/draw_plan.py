"""Which hidden draws a judgement makes, and on which contents a block of a race is called."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass

from cuda_gym.judge.sandbox.messages import (
    Tree,
)

__all__ = ["PlannedDraw", "called", "plan_draws", "plan_hidden", "surely_used"]

_LIKE_ORDINARY = ("signed", "large offset", "tiny scale", "spiky")
"""Kinds of draws that have the shape of the ordinary one, so that nobody can tell from their form."""
_HIDING = ((range(2, 6), 2), (range(6, 10), 1), (range(10, 18), 1), (range(18, 34), 1))
"""Numbers of contents, and how many of them hide something. The probes are 0 and 1, and the shortest race ends
with 5; who knows this may be careful in all of the first, so every longer race hides one more behind them."""


@dataclass(frozen=True, kw_only=True)
class PlannedDraw:
    """One hidden draw, before it is made."""

    weights: int
    """Seed of the weights under which it is run."""
    kind: str
    seed: int


def plan_draws(opened: Mapping[str, Tree], generator: random.Random) -> tuple[PlannedDraw, ...]:
    """Every kind of draw the task can bear, half of them under other weights.

    Args:
        opened: What the reference said when it opened the task.
        generator: Gives the seeds; an equal one gives equal draws.
    """
    first, *others = opened["draws"]
    generator.shuffle(others)
    kinds = [first, *others, first]
    weights = [generator.getrandbits(48) for _ in range(2)]
    return tuple(
        PlannedDraw(
            weights=weights[number >= len(kinds) // 2],
            kind=kind,
            seed=generator.getrandbits(48),
        )
        for number, kind in enumerate(kinds)
    )


def called(count: int, dropped: int) -> list[int]:
    """Which contents a block is called on: the first is spare where some calls are dropped.

    >>> called(2, dropped=3)
    [0, 0, 0, 1, 2]
    >>> called(2, dropped=0)
    [0, 1]
    """
    return [0] * dropped + list(range(bool(dropped), count + bool(dropped)))


def plan_hidden(
    opened: Mapping[str, Tree], generator: random.Random, *, weights: int
) -> dict[int, PlannedDraw]:
    """Which contents of a race hide a draw, and which one: by the number of the contents.

    Args:
        opened: What the reference said when it opened the task.
        generator: Gives the seeds, behind those of `plan_draws`.
        weights: Seed of those that the race is run with.

    >>> plan_hidden({"draws": ["ordinary", "larger shape"]}, random.Random(0), weights=1)
    {}
    """
    hard = [kind for kind in opened["draws"] if kind in _LIKE_ORDINARY]
    generator.shuffle(hard)
    kinds = itertools.cycle(hard)
    return {
        number: PlannedDraw(weights=weights, kind=next(kinds), seed=generator.getrandbits(48))
        for numbers, most in _HIDING
        for number in sorted(generator.sample(numbers, min(most, len(hard))))
    }


def surely_used(hidden: Mapping[int, PlannedDraw]) -> tuple[PlannedDraw, ...]:
    """Of what a race hides, that which the shortest one comes to: worth to be made ahead."""
    first, _ = _HIDING[0]
    return tuple(draw for number, draw in hidden.items() if number in first)
