"""Which models to call next: how likely they are right, what they cost, and how long they take, in one number.

Covered: an order of the whole roster, the calls of one layer chosen together, limits on dollars and seconds, a
bonus for models of which little is known, and the Pareto front.
Not covered: whether a prompt fits a model's context, and what a call really costs once it is made.

Two assumptions. One call's cost and latency follow from its expected tokens and the model's prices and speed.
And given the beliefs, models of a layer err independently: real ones err together, so what a second model
adds is overrated, the more so the more alike the models are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from cuda_gym.agents.route_moa.answers import Belief
from cuda_gym.agents.route_moa.latency import TimedCall, layer_s
from cuda_gym.agents.route_moa.roster import Roster, RosterEntry

__all__ = [
    "DEFAULT_EXPECTED",
    "Budget",
    "Expected",
    "Preferences",
    "Ranked",
    "choose_layer",
    "pareto_front",
    "rank",
]


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

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"preferences: {name} is {value}; it is a finite number from 0 on")


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The other way to say it: limits, within which only being right counts.

    Prices of dollars and seconds that somebody gives besides still weigh within the limits.
    """

    usd: float | None = None
    """What is left; None is no limit."""
    seconds: float | None = None
    """What is left; None is no limit."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and math.isnan(value):
                raise ValueError(f"budget: {name} is {value}; None is no limit")

    def allows(self, *, usd: float, seconds: float) -> bool:
        """Whether so much fits."""
        return (self.usd is None or usd <= self.usd) and (
            self.seconds is None or seconds <= self.seconds
        )


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Of one call."""

    prompt_tokens: float
    completion_tokens: float


DEFAULT_EXPECTED = Expected(prompt_tokens=500.0, completion_tokens=500.0)
"""Where nothing is known of any model; where something is, others are taken to be like the mean of those."""

_MOST_FIRST = 6  # models that a set is grown from: the decision is to take milliseconds
_ROUNDING = 1e-12  # by which a set is no better than another


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """One model's place."""

    model: str
    utility: float
    """Of this call alone."""
    right: float
    """The mean of the belief in it."""
    cost_usd: float
    latency_s: float
    bonus: float = 0.0
    """For exploration, part of the utility: shrinks as evidence comes in."""


def rank(
    beliefs: Mapping[str, Belief],
    roster: Roster,
    expected: Mapping[str, Expected],
    *,
    preferences: Preferences,
    budget: Budget | None = None,
) -> tuple[Ranked, ...]:
    """All models that can be called within the budget, best first.

    Of two that are worth the same, the cheaper comes first, then the one whose name does.

    Args:
        beliefs: How likely each is right. A model without one is taken to be like the mean of the
            others, and never seen.
        roster: Every model of it is ranked; beliefs in others do not count.
        expected: Tokens of a call; see `DEFAULT_EXPECTED` for models that are not in it.
        preferences: What dollars and seconds are worth.
        budget: What is left of it.
    """
    stranger = _stranger([beliefs[name] for name in roster.names if name in beliefs])
    usual = _usual([expected[name] for name in roster.names if name in expected])
    limit = budget or Budget()
    places = []
    for entry in roster:
        belief, call = beliefs.get(entry.name, stranger), expected.get(entry.name, usual)
        one = _ranked(entry, belief, call, preferences)
        if limit.allows(usd=one.cost_usd, seconds=one.latency_s):
            places.append(one)
    return tuple(sorted(places, key=lambda one: (-one.utility, one.cost_usd, one.model)))


def choose_layer(
    ranked: Sequence[Ranked],
    width: int,
    preferences: Preferences,
    *,
    at_least: int = 1,
    roster: Roster | None = None,
    budget: Budget | None = None,
) -> tuple[Ranked, ...]:
    """The models to call side by side, at most `width`: as a set, in the order of `ranked`.

    The utility of a set is the chance that at least one of its models is right, less what all cost,
    less the slowest's seconds. So a model adds its chance where all others fail, its whole cost, and
    only the seconds by which it is slower than they. Where only being right counts, the set is the first
    few of the order.

    Greedy, from several first models: each set grows by what adds most to it until nothing adds
    anything, and the best is taken. One first model would not do: a dear one that is likely right pays
    alone, where two cheap ones pay more. Some best set has a model of the Pareto front.

    Args:
        ranked: From `rank`.
        width: How many at most.
        preferences: As for `rank`.
        at_least: So many are taken, also where a further one costs more than it adds (agreement
            needs two), but none that the budget forbids.
        roster: Where given, calls queue at endpoints that take only so many at once.
        budget: For the layer as a whole.
    """
    limit = budget or Budget()
    time_counts = preferences.seconds > 0 or limit.seconds is not None
    if roster is not None and not (time_counts and any(one.max_parallel for one in roster)):
        roster = None  # nobody waits, or nobody minds
    gains = partial(_gains, preferences, roster, limit)
    fit = [one for one in ranked if limit.allows(usd=one.cost_usd, seconds=one.latency_s)]
    best: Sequence[Ranked] = ()
    best_worth = (0, 0.0)
    for first in pareto_front(fit)[:_MOST_FIRST] if width > 0 else ():
        taken, worth = _grown(first, fit, width, at_least, gains)
        full = min(len(taken), at_least)
        if full > best_worth[0] or (full == best_worth[0] and worth > best_worth[1] + _ROUNDING):
            best, best_worth = taken, (full, worth)
    return tuple(one for one in ranked if one in best)


def pareto_front(ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Those that no other beats in being right, bonus, cost and latency at once, in their order.

    One beats another that is nowhere better and somewhere worse; of two alike both stay.
    """
    return tuple(one for one in ranked if not any(_beats(other, one) for other in ranked))


def _ranked(
    entry: RosterEntry, belief: Belief, expected: Expected, preferences: Preferences
) -> Ranked:
    if not 0 <= belief.mean <= 1 or not belief.weight >= 0:
        raise ValueError(
            f"the belief in {entry.name!r} is {belief.mean} with weight {belief.weight}; a mean lies"
            " between 0 and 1, a weight is not negative"
        )
    prices = entry.prices
    cost_usd = (
        expected.prompt_tokens * prices.input_usd_per_million
        + expected.completion_tokens * prices.output_usd_per_million
    ) / 1e6
    latency_s = entry.speed.latency_s(expected.completion_tokens)
    bonus = preferences.exploration * _standard_deviation(belief)
    price = preferences.usd * cost_usd + preferences.seconds * latency_s
    return Ranked(
        model=entry.name,
        utility=belief.mean + bonus - price,
        right=belief.mean,
        cost_usd=cost_usd,
        latency_s=latency_s,
        bonus=bonus,
    )


def _standard_deviation(belief: Belief) -> float:
    """Of a Beta distribution with this mean that has seen `weight` answers, of a prior worth none."""
    return math.sqrt(belief.mean * (1 - belief.mean) / (belief.weight + 1))


def _stranger(known: Sequence[Belief]) -> Belief:
    mean = math.fsum(belief.mean for belief in known) / len(known) if known else 0.5
    return Belief(mean=mean, weight=0.0)


def _usual(known: Sequence[Expected]) -> Expected:
    if not known:
        return DEFAULT_EXPECTED
    return Expected(
        prompt_tokens=math.fsum(one.prompt_tokens for one in known) / len(known),
        completion_tokens=math.fsum(one.completion_tokens for one in known) / len(known),
    )


def _grown(
    first: Ranked,
    ranked: Sequence[Ranked],
    width: int,
    at_least: int,
    gains: Callable[[Sequence[Ranked], Sequence[Ranked]], Sequence[float]],
) -> tuple[Sequence[Ranked], float]:
    """The set that grows from one model by what adds most, as long as that adds anything; and its utility."""
    taken = [first]
    (worth,) = gains([], taken)
    left = [one for one in ranked if one is not first]
    while left and len(taken) < width:
        gain, _, place = max(
            (gain, -one.cost_usd, -place)
            for place, (one, gain) in enumerate(zip(left, gains(taken, left), strict=True))
        )
        if gain == -math.inf or (gain <= 0 and len(taken) >= at_least):
            break
        taken.append(left.pop(-place))
        worth += gain
    return taken, worth


def _gains(
    preferences: Preferences,
    roster: Roster | None,
    budget: Budget,
    taken: Sequence[Ranked],
    left: Sequence[Ranked],
) -> Sequence[float]:
    """What each of those left adds to the utility of a set; minus infinity where it is over the budget."""
    all_fail = math.prod(1 - one.right for one in taken)
    paid_usd = math.fsum(one.cost_usd for one in taken)
    before_s = _together_s(taken, roster)
    gains = []
    for one in left:
        after_s = max(before_s, one.latency_s)
        if roster is not None and _waits(one, taken, roster):
            after_s = _together_s([*taken, one], roster)
        price = preferences.usd * one.cost_usd + preferences.seconds * (after_s - before_s)
        fits = budget.allows(usd=paid_usd + one.cost_usd, seconds=after_s)
        gains.append(all_fail * one.right + one.bonus - price if fits else -math.inf)
    return gains


def _waits(one: Ranked, others: Sequence[Ranked], roster: Roster) -> bool:
    url = roster[one.model].base_url
    return url is not None and any(roster[other.model].base_url == url for other in others)


def _together_s(calls: Sequence[Ranked], roster: Roster | None) -> float:
    if roster is None:
        return max((call.latency_s for call in calls), default=0.0)
    timed = [TimedCall(model=call.model, latency_s=call.latency_s) for call in calls]
    return layer_s(timed, roster)


def _beats(one: Ranked, other: Ranked) -> bool:
    cheaper_usd, faster_s = other.cost_usd - one.cost_usd, other.latency_s - one.latency_s
    better = (one.right - other.right, one.bonus - other.bonus, cheaper_usd, faster_s)
    return min(better) >= 0 and max(better) > 0
