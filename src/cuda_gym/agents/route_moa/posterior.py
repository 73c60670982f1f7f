"""What answers tell about models, put together with the prior in one formula.

For each model m that has answered, in log odds:

    logit p(m) = w logit prior(m) + a z(self) + b z(peer) + c z(agreement) + d
    z(s)       = (logit s - usual) / spread

    self        what the model says of its answer
    peer        what the judge says of it
    agreement   the share of the other proposals that say the same

`usual` and `spread` are the mean and standard deviation of such log odds: of this model where it scores
itself, of this judge where it scores others, of all where answers agree. So a judge that praises
everything says nothing by praising. A term whose score is unknown is left out, which is the same as
an unremarkable score. Of several answers of one model the newest known score of each kind counts.
w, a, b, c and d are fitted on questions whose answers are known, by logistic regression.

A model that has not answered keeps its prior, and with it its place: when those rated above it fall, it is
next, so that a bad prior can recover.

Not covered: evidence of one question that bears on models which did not answer it, such as that it is hard.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from cuda_gym.agents.route_moa.answers import Belief, Proposal
from cuda_gym.errors import RosterError

__all__ = ["Habit", "PosteriorWeights", "Record", "fit", "update"]

_SHRINKAGE = 10.0
"""Scores of one judge that weigh as much as what judges usually do."""
_LEAST_SPREAD = 0.25
"""A judge that always says the same would otherwise be believed too much when it once does not."""


@dataclass(frozen=True, kw_only=True)
class Habit:
    """What a judge usually says, in log odds: a running mean and spread."""

    mean: float = 0.0
    squares: float = 0.0
    """Sum of squared distances from the mean."""
    count: int = 0

    def with_score(self, score: float) -> Habit:
        """After one more score, in [0, 1]."""
        distance = _logit(score) - self.mean
        mean = self.mean + distance / (self.count + 1)
        squares = self.squares + distance * (_logit(score) - mean)
        return Habit(mean=mean, squares=squares, count=self.count + 1)

    @property
    def spread(self) -> float:
        """Standard deviation; 1 where it is not known yet."""
        return math.sqrt(self.squares / self.count) if self.count > 1 else 1.0


_UNKNOWN = Habit()


@dataclass(frozen=True, kw_only=True)
class PosteriorWeights:
    """Of each kind of evidence, and what is usual of it."""

    prior: float = 1.0
    self_score: float = 0.0
    peer_score: float = 0.0
    agreement: float = 0.0
    bias: float = 0.0
    usual_agreement: Habit = _UNKNOWN
    usual_self: Habit = _UNKNOWN
    """Of all models together, for those that are not known."""
    usual_peer: Habit = _UNKNOWN
    self_habits: Mapping[str, Habit] = field(default_factory=lambda: MappingProxyType({}))
    """By model, of its scores for itself."""
    peer_habits: Mapping[str, Habit] = field(default_factory=lambda: MappingProxyType({}))
    """By judge, of its scores for others."""

    def save(self, path: Path) -> None:
        """Write them as JSON."""
        plain = asdict(replace(self, self_habits={}, peer_habits={}))
        for kind in ("self_habits", "peer_habits"):
            plain[kind] = {name: asdict(habit) for name, habit in getattr(self, kind).items()}
        path.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> PosteriorWeights:
        """Read what `save` wrote.

        Raises:
            RosterError: it is no such file.
        """
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
            for kind in ("usual_agreement", "usual_self", "usual_peer"):
                plain[kind] = Habit(**plain[kind])
            for kind in ("self_habits", "peer_habits"):
                plain[kind] = {name: Habit(**habit) for name, habit in plain[kind].items()}
            return cls(**plain)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RosterError(
                f"{path} holds no posterior weights ({error}). `PosteriorWeights.save` writes them."
            ) from error


@dataclass(frozen=True, kw_only=True)
class Record:
    """One answer to a question whose answer is known: what was seen of it, and whether it was right."""

    model: str
    prior: float
    """The scorer's, made without this question."""
    right: float
    """In [0, 1]."""
    self_score: float | None = None
    peer_score: float | None = None
    judge: str | None = None
    """Who gave the peer score."""
    agreement: float | None = None
    """Share of the other proposals that say the same."""
    others: int = 0
    """How many there are."""


def update(
    beliefs: Mapping[str, Belief],
    proposals: Sequence[Proposal],
    *,
    peers: Sequence[float | None],
    agreement: Sequence[float | None],
    weights: PosteriorWeights,
    judges: Sequence[str | None] = (),
) -> dict[str, Belief]:
    """The beliefs after all layers so far; models that did not run keep theirs.

    It starts from the prior each time: pass the scorer's beliefs and every proposal of the query, not
    the beliefs of the last update, which have their evidence in them already.

    Args:
        beliefs: Before any answer, of every model of the roster.
        proposals: Of all layers so far, in their order.
        peers: What the judge says of each; None where it says nothing.
        agreement: Of each, the share of the other proposals of its layer that give the same answer;
            None where there are no others.
        weights: Fitted, see `fit`.
        judges: Whose the peer scores are; empty where it is not known.
    """
    widths: dict[int, int] = {}
    for proposal in proposals:
        widths[proposal.layer] = widths.get(proposal.layer, 0) + 1
    names = judges or (None,) * len(proposals)
    evidence: dict[str, dict[str, float]] = {}
    answers: dict[str, int] = {}
    for proposal, peer, share, judge in zip(proposals, peers, agreement, names, strict=True):
        seen = Record(
            model=proposal.model,
            prior=0.5,
            right=0.5,
            self_score=proposal.self_score,
            peer_score=peer,
            judge=judge,
            agreement=share,
            others=widths[proposal.layer] - 1,
        )
        evidence.setdefault(proposal.model, {}).update(_terms(seen, weights))
        answers[proposal.model] = answers.get(proposal.model, 0) + 1
    return {
        model: _posterior(belief, evidence[model], weights, answers[model])
        if evidence.get(model)
        else belief
        for model, belief in beliefs.items()
    }


def fit(records: Sequence[Record], *, l2: float = 1.0) -> PosteriorWeights:
    """Weights by penalised logistic regression.

    Args:
        records: Of questions that the scorer was not fitted on, else its priors look too good.
        l2: Pull towards believing the prior alone; a kind of evidence that is never there gets 0.
    """
    usual = _habits(records)
    if not records:
        return usual
    rows, targets = [], []
    for record in records:
        terms = _terms(record, usual)
        kinds = (terms.get(kind, 0.0) for kind in ("self_score", "peer_score", "agreement"))
        rows.append((_logit(record.prior), *kinds, 1.0))
        targets.append(record.right)
    prior, self_score, peer_score, agreement, bias = _regress(
        np.array(rows), np.array(targets), start=np.array([1.0, 0.0, 0.0, 0.0, 0.0]), l2=l2
    )
    return replace(
        usual,
        prior=prior,
        self_score=self_score,
        peer_score=peer_score,
        agreement=agreement,
        bias=bias,
    )


def _posterior(
    belief: Belief, terms: Mapping[str, float], weights: PosteriorWeights, answers: int
) -> Belief:
    odds = weights.prior * _logit(belief.mean) + weights.bias
    odds += sum(getattr(weights, kind) * value for kind, value in terms.items())
    return Belief(mean=_probability(odds), weight=belief.weight + answers)


def _terms(record: Record, weights: PosteriorWeights) -> dict[str, float]:
    """The z of each kind of evidence that is known."""
    terms = {}
    if record.self_score is not None:
        habit = weights.self_habits.get(record.model, _UNKNOWN)
        terms["self_score"] = _standard(record.self_score, habit, weights.usual_self)
    if record.peer_score is not None:
        habit = weights.peer_habits.get(record.judge or "", _UNKNOWN)
        terms["peer_score"] = _standard(record.peer_score, habit, weights.usual_peer)
    if record.agreement is not None and record.others > 0:
        share = _smooth(record.agreement, record.others)
        terms["agreement"] = _standard(share, weights.usual_agreement, weights.usual_agreement)
    return terms


def _standard(score: float, habit: Habit, usual: Habit) -> float:
    """Log odds less what is usual, over its spread; of little known judges nearly what all do."""
    total = habit.count + _SHRINKAGE
    mean = (habit.count * habit.mean + _SHRINKAGE * usual.mean) / total
    spread = (habit.count * habit.spread + _SHRINKAGE * usual.spread) / total
    return (_logit(score) - mean) / max(spread, _LEAST_SPREAD)


def _smooth(share: float, others: int) -> float:
    """Half an answer more for and against: two of two say less than nine of nine."""
    return (share * others + 0.5) / (others + 1)


def _habits(records: Sequence[Record]) -> PosteriorWeights:
    """What is usual, with no weights yet."""
    agreement, alone, peer = _UNKNOWN, _UNKNOWN, _UNKNOWN
    selves: dict[str, Habit] = {}
    judges: dict[str, Habit] = {}
    for record in records:
        if record.agreement is not None and record.others > 0:
            agreement = agreement.with_score(_smooth(record.agreement, record.others))
        if (score := record.self_score) is not None:
            alone = alone.with_score(score)
            selves[record.model] = selves.get(record.model, _UNKNOWN).with_score(score)
        if (score := record.peer_score) is not None:
            peer = peer.with_score(score)
            if record.judge is not None:
                judges[record.judge] = judges.get(record.judge, _UNKNOWN).with_score(score)
    return PosteriorWeights(
        usual_agreement=agreement,
        usual_self=alone,
        usual_peer=peer,
        self_habits=selves,
        peer_habits=judges,
    )


def _regress(
    rows: np.ndarray, targets: np.ndarray, *, start: np.ndarray, l2: float
) -> tuple[float, ...]:
    """Newton's method on the logistic loss plus l2/2 times the squared distance from the start."""
    weights = start.copy()
    penalty = l2 * np.eye(len(start))
    for _ in range(50):
        right = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        gradient = rows.T @ (right - targets) + penalty @ (weights - start)
        curvature = (rows * (right * (1 - right))[:, None]).T @ rows + penalty
        step = np.linalg.solve(curvature, gradient)
        weights -= step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return tuple(float(weight) for weight in weights)


def _logit(probability: float) -> float:
    """Log odds; certainty counts as one in a hundred against, for no model is certain."""
    inside = min(max(probability, 0.01), 0.99)
    return math.log(inside / (1 - inside))


def _probability(odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(odds, -9.0), 9.0)))
