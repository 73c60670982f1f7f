"""Which models to call next: how likely they are right, what they cost, and how long they take, in one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuda_gym.agents.route_moa.answers import Belief
from cuda_gym.agents.route_moa.roster import Roster

__all__ = ["Budget", "Expected", "Preferences", "Ranked"]


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """What a right answer, a dollar and a second are worth to somebody.

    A model's utility is its expected share of right answers, less `usd` times its expected cost, less
    `seconds` times its expected latency.
    """

    usd: float = 0.0
    """Share of right answers that a dollar is worth."""
    seconds: float = 0.0
    """Share of right answers that a second is worth."""
    exploration: float = 0.0
    """How much a model gains that is hardly known: times the standard deviation of its belief."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The other way to say it: limits, within which only being right counts."""

    usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Of one call."""

    prompt_tokens: float
    completion_tokens: float


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """One model's place."""

    model: str
    utility: float
    right: float
    cost_usd: float
    latency_s: float


def rank(
    beliefs: Mapping[str, Belief],
    roster: Roster,
    expected: Mapping[str, Expected],
    *,
    preferences: Preferences,
    budget: Budget | None = None,
) -> tuple[Ranked, ...]:
    """All models that can be called within the budget, best first."""
    raise NotImplementedError


def pareto_front(ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Those that no other beats in being right, cost and latency at once."""
    raise NotImplementedError
