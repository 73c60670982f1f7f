"""Logistic regression that starts from what is believed without data.

Covered: weights that cannot be below 0, and kinds of evidence that have to prove their worth on cases that the
weights were not fitted on.
Not covered: cases that hang together; those that do should stand side by side, so that they are held out together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

__all__ = ["Cases", "regress", "regress_proven"]

Numbers = npt.NDArray[np.float64]

_PARTS = 5
"""Each is held out once."""
_MOST_ODDS = 30.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Cases:
    """What is known of each, and how it came out."""

    rows: Numbers
    """A column for each weight."""
    targets: Numbers
    """In [0, 1]."""
    offsets: Numbers
    """Added to the log odds of each case as they are."""
    start: Numbers
    """Weights where there are no data; 0 for those that are not to be below 0."""

    @classmethod
    def of(
        cls,
        rows: Sequence[Sequence[float]],
        targets: Sequence[float],
        *,
        offsets: Sequence[float],
        start: Sequence[float],
    ) -> Cases:
        """Of plain numbers."""
        return cls(
            rows=np.array(rows, np.float64).reshape(len(rows), len(start)),
            targets=np.array(targets, np.float64),
            offsets=np.array(offsets, np.float64),
            start=np.array(start, np.float64),
        )

    def without(self, columns: Collection[int]) -> Cases:
        """As if nothing of that were known: such weights stay where they start."""
        rows = self.rows.copy()
        rows[:, sorted(columns)] = 0.0
        return replace(self, rows=rows)

    def only(self, places: npt.NDArray[np.intp]) -> Cases:
        """Some of them."""
        return replace(
            self,
            rows=self.rows[places],
            targets=self.targets[places],
            offsets=self.offsets[places],
        )

    def odds(self, weights: Numbers) -> Numbers:
        """Log odds of each."""
        found = self.rows @ weights + self.offsets
        return np.asarray(np.clip(found, -_MOST_ODDS, _MOST_ODDS), np.float64)

    def losses(self, weights: Numbers) -> Numbers:
        """The logistic loss of each."""
        odds = self.odds(weights)
        return np.asarray(np.logaddexp(0.0, odds) - self.targets * odds, np.float64)


def regress(cases: Cases, *, l2: float, not_below_zero: Collection[int] = ()) -> Numbers:
    """Weights that minimise the logistic loss plus l2/2 times the squared distance from the start.

    Args:
        cases: What is known.
        l2: Above 0, so that cases which are all alike leave the weights finite.
        not_below_zero: Columns whose weights are 0 where they would be less; the others are fitted without them.
    """
    found = _newton(cases, l2)
    below = {column for column in not_below_zero if found[column] < 0}
    if not below:
        return found
    return regress(cases.without(below), l2=l2, not_below_zero=set(not_below_zero) - below)


def regress_proven(
    cases: Cases, *, l2: float, not_below_zero: Collection[int], to_prove: Collection[int]
) -> Numbers:
    """As `regress`, but a column counts for nothing that does not lower the loss of held-out cases.

    Each fifth of the cases is held out once, as they stand in their order. With the column the loss has to be lower by
    more than the standard error of that difference: half of all worthless columns lower it by a little. Of two
    that prove nothing, the lesser goes first, since each may be worth something without the other.

    Args:
        cases: What is known.
        l2: As for `regress`.
        not_below_zero: As for `regress`.
        to_prove: Columns that have to.
    """
    left = set(to_prove)
    while left:
        losses = _held_out_losses(cases, l2, not_below_zero)
        gains: dict[int, float] = {}
        for column in left:
            saved = _held_out_losses(cases.without({column}), l2, not_below_zero) - losses
            gains[column] = float(saved.mean() - saved.std() / np.sqrt(len(saved)))
        least = min(gains, key=gains.__getitem__)
        if gains[least] > 0:
            break
        cases = cases.without({least})
        left.remove(least)
    return regress(cases, l2=l2, not_below_zero=not_below_zero)


def _held_out_losses(cases: Cases, l2: float, not_below_zero: Collection[int]) -> Numbers:
    """Of each case, by weights that were fitted without its part."""
    parts = np.array_split(np.arange(len(cases.targets)), _PARTS)
    losses = []
    for part in parts:
        others = np.setdiff1d(np.arange(len(cases.targets)), part)
        weights = regress(cases.only(others), l2=l2, not_below_zero=not_below_zero)
        losses.append(cases.only(part).losses(weights))
    return np.concatenate(losses)


def _newton(cases: Cases, l2: float) -> Numbers:
    """In steps of at most 1, so that it cannot run away."""
    weights = cases.start.copy()
    penalty = l2 * np.eye(len(weights))
    for _ in range(100):
        chance = 1 / (1 + np.exp(-cases.odds(weights)))
        gradient = cases.rows.T @ (chance - cases.targets) + penalty @ (weights - cases.start)
        curvature = (cases.rows * (chance * (1 - chance))[:, None]).T @ cases.rows + penalty
        step = np.linalg.solve(curvature, gradient)
        weights -= step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return weights
