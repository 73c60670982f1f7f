"""Which hidden draws a judgement makes, and on which contents a block of a race is called."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from cuda_gym.judge.sandbox.messages import (
    Tree,
)

__all__ = ["PlannedDraw", "called", "plan_draws", "plan_hidden"]

_LIKE_ORDINARY = ("signed", "large offset", "tiny scale", "spiky")
"""Kinds of draws that have the shape of the ordinary one, so that nobody can tell from their form."""
_FIRST_HIDING, _LAST_HIDING = 3, 5
"""Numbers of contents, among which two hide something: after the probes and the first pair, and before the
shortest race ends."""


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
    numbers = range(_FIRST_HIDING, _LAST_HIDING + 1)
    chosen = generator.sample(numbers, min(2, len(hard)))
    return {
        number: PlannedDraw(weights=weights, kind=kind, seed=generator.getrandbits(48))
        for number, kind in zip(chosen, generator.sample(hard, len(chosen)), strict=True)
    }
