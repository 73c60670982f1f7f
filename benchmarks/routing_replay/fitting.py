"""What is learnt from the training half of a pool: a scorer, weights of evidence, and the static choices.

Two thirds of the training questions teach a scorer; the other third, which it has not seen, gives the
posterior's weights and every knob. Then all of them teach the scorer of the test. Nothing here sees a test
question, nor one that asks the same in other letters: `Split` cannot be made with one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt
from benchmarks.routing_replay.encodings import KeptEncoder
from benchmarks.routing_replay.evidence import recorded_alone, records_of
from benchmarks.routing_replay.loading import Pool, Question

from cuda_gym.agents.route_moa.posterior import PosteriorWeights, fit
from cuda_gym.agents.route_moa.prompts import Step, compose
from cuda_gym.agents.route_moa.scorer import LearnedScorer
from cuda_gym.models.estimates import estimated_tokens
from cuda_gym.models.model import Model, Usage

__all__ = [
    "Fitted",
    "LeakedQuestion",
    "Split",
    "best_static",
    "best_three",
    "fitted",
    "plain_costs",
    "split",
    "with_evidence",
]

Floats = npt.NDArray[np.float64]


class LeakedQuestion(ValueError):
    """A question is tested on that was trained on."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """The questions of one seed.

    Raises:
        LeakedQuestion: one is in the training and in the test.
    """

    learn: tuple[Question, ...]
    """For the scorer."""
    tune: tuple[Question, ...]
    """For weights and knobs."""
    test: tuple[Question, ...]
    num_left_out: int = 0
    """Of the training: questions that ask what one of the test does."""

    def __post_init__(self) -> None:
        tested = {question.key for question in self.test}
        leaked = [question.id for question in self.train if question.key in tested]
        if leaked:
            raise LeakedQuestion(
                f"{len(leaked)} questions of the training are tested on too, the first is {leaked[0]!r}: leave "
                "them out of either."
            )

    @property
    def train(self) -> tuple[Question, ...]:
        """Both of the first two."""
        return self.learn + self.tune


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """What methods may know."""

    split: Split
    scorer: LearnedScorer
    """From the first two thirds, for weights and knobs."""
    final_scorer: LearnedScorer
    """From all of the training, for the test: knobs stay, the scorer knows more."""
    recorded_weights: PosteriorWeights
    """Of the prior and of agreement between recorded answers: nothing simulated."""
    weights: PosteriorWeights
    """Of simulated scores too."""
    order: tuple[str, ...]
    """Models by their share of right answers in training."""
    orders: Mapping[str, tuple[str, ...]]
    """The same in each category."""
    best_three: tuple[str, ...]
    """Whose vote is right most often in training."""
    completion_tokens: Mapping[str, float]
    """What each model usually writes."""


def split(
    pool: Pool, seed: int, *, most_train: int | None = None, most_test: int | None = None
) -> Split:
    """Half to train and half to test on, or as the data says; what is tested on is left out of the training."""
    random = np.random.default_rng(seed)
    shuffled = [pool.questions[place] for place in random.permutation(len(pool.questions))]
    if pool.fixed_split is None:
        train, test = shuffled[: len(shuffled) // 2], shuffled[len(shuffled) // 2 :]
    else:
        to_train, _ = pool.fixed_split
        train = [question for question in shuffled if question.id in to_train]
        test = [question for question in shuffled if question.id not in to_train]
    tested = {question.key for question in test}
    unseen = [question for question in train if question.key not in tested]
    left_out = len(train) - len(unseen)
    train, test = unseen[:most_train], test[:most_test]
    cut = 2 * len(train) // 3
    return Split(
        learn=tuple(train[:cut]), tune=tuple(train[cut:]), test=tuple(test), num_left_out=left_out
    )


def fitted(
    pool: Pool,
    parts: Split,
    models: Mapping[str, Model],
    encoder: KeptEncoder,
    *,
    seed: int,
    most_records: int = 900,
) -> Fitted:
    """Learn what is to be learnt.

    Args:
        pool: The recorded answers.
        parts: Which of them may be looked at.
        models: That replay them.
        encoder: Of questions.
        seed: Of the scorer.
        most_records: Questions from which weights are fitted.
    """
    train = parts.train
    scorer, final_scorer = (
        _scorer(pool, questions, encoder, seed) for questions in (parts.learn, train)
    )
    labels = pool.labels(train)
    order = _by_score(pool.models, labels)
    taught = Fitted(
        split=parts,
        scorer=scorer,
        final_scorer=final_scorer,
        recorded_weights=fit([]),
        weights=fit([]),
        order=order,
        orders=_by_category(pool.models, labels, [question.category for question in train]),
        best_three=best_three(pool, train, order),
        completion_tokens={model: _usual_tokens(pool, model, train) for model in pool.models},
    )
    if not pool.answers_are_recorded:
        return taught
    return with_evidence(taught, pool, models, most_records=most_records)


def with_evidence(
    taught: Fitted, pool: Pool, models: Mapping[str, Model], *, most_records: int = 900
) -> Fitted:
    """The same scorers, with the weights of what these models answer."""
    questions = taught.split.tune[:most_records]
    records = records_of(pool, taught.scorer, models, questions, taught.completion_tokens)
    return replace(taught, recorded_weights=fit(recorded_alone(records)), weights=fit(records))


def best_three(pool: Pool, questions: Sequence[Question], order: Sequence[str]) -> tuple[str, ...]:
    """The three whose vote is right most often, best model first; two of a pool of two."""
    scored = _votes(pool, questions, order, combinations(order, 3))
    return max(scored, key=lambda one: one[1], default=(tuple(order), 0.0))[0]


def best_static(
    pool: Pool,
    questions: Sequence[Question],
    order: Sequence[str],
    *,
    costs: Mapping[str, float],
    most_usd: float,
) -> tuple[str, ...]:
    """The one model, or the three by vote, that are right most often at that cost; the cheapest where none is.

    Args:
        pool: The recorded answers.
        questions: Of the training.
        order: Models, best first.
        costs: What a plain answer of each costs.
        most_usd: What they may cost together.
    """
    singles = ((model,) for model in order)
    chosen = [
        names
        for names in (*singles, *combinations(order, 3))
        if sum(costs[name] for name in names) <= most_usd
    ]
    scored = _votes(pool, questions, order, chosen)
    cheapest = min(order, key=lambda model: costs[model])
    return max(scored, key=lambda one: one[1], default=((cheapest,), 0.0))[0]


def _votes(
    pool: Pool,
    questions: Sequence[Question],
    order: Sequence[str],
    chosen: Iterable[tuple[str, ...]],
) -> Iterator[tuple[tuple[str, ...], float]]:
    """How often each of some choices is right.

    Where all three differ the first one's answer stands, so the vote is the first one's but where the
    other two agree against it.
    """
    right = {model: _scores(pool, model, questions) for model in order}
    said = _codes(pool, order, questions)
    for names in chosen:
        first, *others = names
        score = right[first]
        if others:
            second, third = others
            score = np.where(said[second] == said[third], right[second], score)
        yield names, float(score.mean())


def plain_costs(pool: Pool, questions: Sequence[Question]) -> dict[str, float]:
    """What a plain answer of each model costs, on average."""
    around = len(
        compose(Step.LAST, "", context_tokens=10_000, reserve_tokens=0).messages[0].content
    )
    prompt_tokens = float(np.mean([(around + len(question.text)) / 4 for question in questions]))
    costs = {}
    for entry in pool.roster:
        usual = _usual_tokens(pool, entry.name, questions)
        costs[entry.name] = entry.prices.cost_usd(
            Usage(prompt_tokens=round(prompt_tokens), completion_tokens=round(usual))
        )
    return costs


def _scorer(
    pool: Pool, questions: Sequence[Question], encoder: KeptEncoder, seed: int
) -> LearnedScorer:
    texts = [question.text for question in questions]
    return LearnedScorer.fit(texts, pool.labels(questions), pool.models, encoder=encoder, seed=seed)


def _by_category(
    models: Sequence[str], labels: Floats, categories: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    of_each = np.array(categories)
    return {str(name): _by_score(models, labels[of_each == name]) for name in np.unique(of_each)}


def _by_score(models: Sequence[str], labels: Floats) -> tuple[str, ...]:
    """Best first; a model that was never asked comes last."""
    there = ~np.isnan(labels)
    mean = np.nansum(labels, axis=0) / np.maximum(there.sum(axis=0), 1)
    return tuple(models[place] for place in np.argsort(-mean, kind="stable"))


def _scores(pool: Pool, model: str, questions: Sequence[Question]) -> Floats:
    known = pool.recordings[model]
    return np.array([known[one.id].score if one.id in known else 0.0 for one in questions])


def _codes(
    pool: Pool, models: Sequence[str], questions: Sequence[Question]
) -> dict[str, npt.NDArray[np.int64]]:
    """A number for what each model said; what it did not say agrees with nothing."""
    numbers: dict[str, int] = {}
    codes = {}
    for place, model in enumerate(models, 1):
        known = pool.recordings[model]
        said = [known[one.id].answer if one.id in known else None for one in questions]
        codes[model] = np.array(
            [-place if not one else numbers.setdefault(one, len(numbers)) for one in said]
        )
    return codes


def _usual_tokens(pool: Pool, model: str, questions: Sequence[Question]) -> float:
    known = pool.recordings[model]
    lengths = [known[one.id].output_chars for one in questions if one.id in known]
    return (
        float(np.mean([estimated_tokens("-" * length) for length in lengths])) if lengths else 0.0
    )
