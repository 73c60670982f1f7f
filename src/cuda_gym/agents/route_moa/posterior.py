"""What answers tell about models, put together with the prior in one formula.

For each model m, in log odds:

    logit p(m) = logit prior(m) + a z(self) + b z(peer) + [c z(agreement) + d - e logit prior(m)] + f z(ease)
    z(s)       = (logit s - usual) / spread

    self        what the model says of its answer
    peer        what the judge says of it
    agreement   the share of the other proposals of its layer that say the same
    ease        where m was not in the first layer: the mean agreement of that, which tells a hard question

`usual` and `spread` are the mean and standard deviation of such log odds: of this model where it scores
itself, of this judge where it scores others, of all where answers agree. So a judge that praises
everything says nothing by praising. A score that is unknown takes its term out, and agreement that is
unknown takes the whole bracket: that others agree says again what the prior knew, that the question is
easy, and e takes it off. The weights are fitted on questions whose answers are known; none is below 0, and
a and b are 0 where such scores do not make beliefs better on answers that were held out.

In later layers models have read each other and agree more easily, which proves less: c and usual are others
there, and c is 0 where no such answers were fitted. Of several answers of one model the newest score of
each kind counts.

A model that has not answered keeps its place: what is said of the question moves all of them alike, and
when those rated above it fall further, it is next. So a bad prior can recover.

Not covered: who agrees with whom. Two models of one family share their mistakes.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from cuda_gym.agents.route_moa.answers import Belief, Proposal
from cuda_gym.agents.route_moa.evidence import Evidence, Record
from cuda_gym.agents.route_moa.habits import UNKNOWN, Habit, log_odds, probability, standing
from cuda_gym.agents.route_moa.logistic import Cases, regress_proven
from cuda_gym.errors import RosterError

__all__ = ["AGREEMENT_ALONE", "PosteriorWeights", "fit", "update"]

_AGREEMENT = {"agreement", "later_agreement"}
_KINDS = ("self_score", "peer_score", "agreement", "later_agreement", "ease")
_COLUMNS = ("prior", *_KINDS, "bias")
_NOT_BELOW_ZERO = frozenset(map(_COLUMNS.index, _KINDS))
_TO_PROVE = frozenset(map(_COLUMNS.index, ("self_score", "peer_score")))


@dataclass(frozen=True, kw_only=True)
class PosteriorWeights:
    """Of each kind of evidence, and what is usual of it."""

    prior: float = 1.0
    """1 - e of the formula: what stays of the prior where agreement is known."""
    self_score: float = 0.0
    peer_score: float = 0.0
    agreement: float = 0.0
    """In the first layer."""
    later_agreement: float = 0.0
    """In the others."""
    ease: float = 0.0
    """Of the first layer's agreement, for models whose own is not known."""
    bias: float = 0.0
    usual_agreement: Habit = UNKNOWN
    usual_later_agreement: Habit = UNKNOWN
    usual_self: Habit = UNKNOWN
    """Of all models together, for those that are not known."""
    usual_peer: Habit = UNKNOWN
    self_habits: Mapping[str, Habit] = field(default_factory=lambda: MappingProxyType({}))
    """By model, of its scores for itself."""
    peer_habits: Mapping[str, Habit] = field(default_factory=lambda: MappingProxyType({}))
    """By judge, of its scores for others."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"weights: {name} is {value}; it is a finite number")

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
            for kind in ("usual_agreement", "usual_later_agreement", "usual_self", "usual_peer"):
                plain[kind] = Habit(**plain[kind])
            for kind in ("self_habits", "peer_habits"):
                plain[kind] = {name: Habit(**habit) for name, habit in plain[kind].items()}
            return cls(**plain)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RosterError(
                f"{path} holds no posterior weights ({error}). `PosteriorWeights.save` writes them."
            ) from error


AGREEMENT_ALONE = PosteriorWeights(
    prior=0.56,
    agreement=1.5,
    ease=0.86,
    bias=0.48,
    usual_agreement=Habit(mean=0.29, squares=2190.0, count=1000),
)
"""For whoever has no answers of known questions to fit on. From recorded answers of 15 models to MMLU-Pro and of
28 to ZeroEval, two to five to a question; held out, three that agree are right in 89 and 97 of 100 and rated 0.90
and 0.94. Nobody recorded what models say of answers: such scores count for nothing here."""


def update(
    beliefs: Mapping[str, Belief],
    proposals: Sequence[Proposal],
    *,
    peers: Sequence[float | None],
    agreement: Sequence[float | None],
    weights: PosteriorWeights,
    judges: Sequence[str | None] = (),
) -> dict[str, Belief]:
    """The beliefs after all layers so far; models that did not run keep theirs, but for the question's ease.

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
    widths = Counter(proposal.layer for proposal in proposals)
    names = judges or (None,) * len(proposals)
    terms: dict[str, dict[str, float]] = {}
    answers: Counter[str] = Counter()
    for proposal, peer, share, judge in zip(proposals, peers, agreement, names, strict=True):
        seen = Evidence(
            model=proposal.model,
            self_score=proposal.self_score,
            peer_score=peer,
            judge=judge,
            agreement=share,
            others=widths[proposal.layer] - 1,
            layer=proposal.layer,
        )
        if found := _weighted(_terms(seen, weights), weights):
            answers[proposal.model] += 1
            terms.setdefault(proposal.model, {}).update(found)
    ease = _weighted(_terms(_ease(proposals, agreement), weights), weights)
    after = dict(beliefs)
    for model, belief in beliefs.items():
        found = terms.get(model, {})
        if known := (found if "agreement" in found else {**ease, **found}):
            after[model] = _posterior(belief, known, weights, answers[model])
    return after


def fit(records: Sequence[Record], *, l2: float = 1.0) -> PosteriorWeights:
    """Weights by penalised logistic regression.

    No kind of evidence has a weight below 0: that a high score should speak against an answer is chance. And scores,
    which models are paid for, have no weight at all where it does not lower the loss of held-out records
    by more than the standard error of that: a score that is worth nothing would get a little weight by
    chance, and be asked for ever after.

    Args:
        records: Of questions that the scorer was not fitted on, else its priors look too good. Those of one
            question stand side by side: they are held out together.
        l2: Pull towards believing the prior alone; a kind of evidence that is never there gets 0.
    """
    usual = _usual(records)
    if not records:
        return usual
    rows, offsets, targets = [], [], []
    for record in records:
        terms = _terms(record, usual)
        agrees = 1.0 if _AGREEMENT & terms.keys() else 0.0
        odds = log_odds(record.prior)
        rows.append((odds * agrees, *(terms.get(kind, 0.0) for kind in _KINDS), agrees))
        offsets.append(odds * (1 - agrees))
        targets.append(record.right)
    start = [1.0, *[0.0] * len(_KINDS), 0.0]
    cases = Cases.of(rows, targets, offsets=offsets, start=start)
    found = regress_proven(cases, l2=l2, not_below_zero=_NOT_BELOW_ZERO, to_prove=_TO_PROVE)
    return replace(usual, **dict(zip(_COLUMNS, found.tolist(), strict=True)))


def _posterior(
    belief: Belief, terms: Mapping[str, float], weights: PosteriorWeights, answers: int
) -> Belief:
    odds = log_odds(belief.mean)
    if "agreement" in terms:
        odds = weights.prior * odds + weights.bias
    return Belief(mean=probability(odds + sum(terms.values())), weight=belief.weight + answers)


def _ease(proposals: Sequence[Proposal], agreement: Sequence[float | None]) -> Evidence:
    """What the first layer tells of models that have not answered."""
    shares = [
        share
        for proposal, share in zip(proposals, agreement, strict=True)
        if proposal.layer == 0 and share is not None
    ]
    mean = sum(shares) / len(shares) if shares else None
    return Evidence(model="", agreement=mean, others=len(shares) - 1, answered=False)


def _weighted(terms: Mapping[str, float], weights: PosteriorWeights) -> dict[str, float]:
    """Each term times its weight, without those that count for nothing; agreement is one kind now."""
    return {
        "agreement" if kind in _AGREEMENT else kind: value * getattr(weights, kind)
        for kind, value in terms.items()
        if getattr(weights, kind)
    }


def _terms(seen: Evidence, weights: PosteriorWeights) -> dict[str, float]:
    """The z of each kind of evidence that is known."""
    terms = {}
    if (score := seen.self_score) is not None:
        habits = weights.self_habits
        terms["self_score"] = standing(score, seen.model, habits, weights.usual_self)
    if (score := seen.peer_score) is not None:
        habits = weights.peer_habits
        terms["peer_score"] = standing(score, seen.judge, habits, weights.usual_peer)
    if (share := _smooth(seen)) is not None:
        is_later = seen.layer > 0
        usual = weights.usual_later_agreement if is_later else weights.usual_agreement
        kind = "later_agreement" if is_later else "agreement"
        terms[kind if seen.answered else "ease"] = standing(share, None, {}, usual)
    return terms


def _smooth(seen: Evidence) -> float | None:
    """Agreement with half an answer more for and against: two of two say less than nine of nine."""
    if seen.agreement is None or seen.others < 1:
        return None
    return (seen.agreement * seen.others + 0.5) / (seen.others + 1)


def _usual(records: Sequence[Record]) -> PosteriorWeights:
    """What is usual, with no weights yet."""
    selves: defaultdict[str, Habit] = defaultdict(Habit)
    judges: defaultdict[str, Habit] = defaultdict(Habit)
    usual: defaultdict[str, Habit] = defaultdict(Habit)
    for seen in records:
        if (share := _smooth(seen)) is not None and seen.answered:
            kind = "later" if seen.layer else "first"
            usual[kind] = usual[kind].with_score(share)
        if (score := seen.self_score) is not None:
            usual["self"] = usual["self"].with_score(score)
            selves[seen.model] = selves[seen.model].with_score(score)
        if (score := seen.peer_score) is not None:
            usual["peer"] = usual["peer"].with_score(score)
            if seen.judge is not None:
                judges[seen.judge] = judges[seen.judge].with_score(score)
    return PosteriorWeights(
        usual_agreement=usual["first"],
        usual_later_agreement=usual["later"],
        usual_self=usual["self"],
        usual_peer=usual["peer"],
        self_habits=dict(selves),
        peer_habits=dict(judges),
    )
