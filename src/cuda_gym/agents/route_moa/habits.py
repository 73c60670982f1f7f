"""What a judge usually says, so that its scores can be read as more or less than that.

A judge that gives 0.9 to everything says nothing with a 0.9. Its scores are turned into log odds, and what
counts is how far one lies from the judge's mean, in its standard deviations. Of a judge with few scores,
what all judges do stands in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["UNKNOWN", "Habit", "log_odds", "probability", "standing"]

_SHRINKAGE = 10.0
"""Scores of one judge that weigh as much as what judges usually do."""
_LEAST_SPREAD = 0.5
"""A judge that always says the same would otherwise be believed too much when it once does not."""
_MOST_ODDS = 9.0
"""Log odds; a probability of 1 would be no probability."""


@dataclass(frozen=True, kw_only=True)
class Habit:
    """Mean and spread of log odds, kept as they come."""

    mean: float = 0.0
    squares: float = 0.0
    """Sum of squared distances from the mean."""
    count: int = 0

    def with_score(self, score: float) -> Habit:
        """After one more score, in [0, 1]."""
        odds = log_odds(score)
        mean = self.mean + (odds - self.mean) / (self.count + 1)
        squares = self.squares + (odds - self.mean) * (odds - mean)
        return Habit(mean=mean, squares=squares, count=self.count + 1)

    @property
    def spread(self) -> float:
        """Standard deviation; 1 where it is not known yet."""
        return math.sqrt(self.squares / self.count) if self.count > 1 else 1.0


UNKNOWN = Habit()


def standing(score: float, name: str | None, habits: Mapping[str, Habit], usual: Habit) -> float:
    """How far a score is above what its judge usually gives, in that judge's standard deviations.

    Args:
        score: In [0, 1].
        name: Whose it is; None where nobody knows.
        habits: Of the judges that are known.
        usual: Of all judges together.
    """
    habit = habits.get(name, UNKNOWN) if name is not None else UNKNOWN
    total = habit.count + _SHRINKAGE
    mean = (habit.count * habit.mean + _SHRINKAGE * usual.mean) / total
    variance = (habit.count * habit.spread**2 + _SHRINKAGE * usual.spread**2) / total
    return (log_odds(score) - mean) / max(math.sqrt(variance), _LEAST_SPREAD)


def log_odds(chance: float) -> float:
    """Of a probability; certainty counts as one in a hundred against, for no model is certain.

    >>> log_odds(0.5), log_odds(1.0) == log_odds(0.99)
    (0.0, True)
    """
    inside = min(max(chance, 0.01), 0.99)
    return math.log(inside / (1 - inside))


def probability(odds: float) -> float:
    """Of log odds, inside (0, 1).

    >>> probability(0.0)
    0.5
    """
    return 1 / (1 + math.exp(-min(max(odds, -_MOST_ODDS), _MOST_ODDS)))
