"""How likely each model of a roster answers a query right, from the query alone.

    LearnedScorer   a frozen sentence encoder, and embeddings of models that are trained with it
    RidgeScorer     counts of words and linear regression: numpy alone

Both are trained on labels with gaps, give probabilities that are calibrated on held-out queries, and can be
saved and loaded. How a model without labels is rated, and what a belief weighs: see pool.py.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from cuda_gym.agents.route_moa.answers import Belief
from cuda_gym.agents.route_moa.calibration import Platt, fit_platt, logit
from cuda_gym.agents.route_moa.clusters import Clusters
from cuda_gym.agents.route_moa.encoders import (
    Encoder,
    SentenceEncoder,
    TfidfEncoder,
    Vectors,
    load_encoder,
)
from cuda_gym.agents.route_moa.heads import Heads, TrainingPlan, train_heads
from cuda_gym.agents.route_moa.pool import Pool
from cuda_gym.agents.route_moa.ridge import best_penalty, fit_ridge
from cuda_gym.agents.route_moa.scorer_file import reading, safetensors_of
from cuda_gym.agents.route_moa.training import Examples, Split
from cuda_gym.errors import RosterError

__all__ = ["FittedScorer", "LearnedScorer", "RidgeScorer", "load_scorer"]

Numbers = npt.NDArray[np.float64]

_DESCRIPTION, _ARRAYS = "scorer.json", "scorer.safetensors"
_PROBE = "What is 17 * 23?"


class FittedScorer(ABC):
    """What both scorers do alike.

    Args:
        encoder: Of queries.
        pool: Of models.
        parts: What was learnt, by name.
    """

    def __init__(self, encoder: Encoder, pool: Pool, parts: Mapping[str, Vectors]) -> None:
        self._encoder = encoder
        self._pool = pool
        self._parts = dict(parts)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the models, in the order of `score_many`'s columns."""
        return self._pool.names

    def score(self, query: str) -> Mapping[str, Belief]:
        """The prior of every model."""
        vectors = self._encoder.encode([query])
        right, weights = self._right(vectors)[0], self._pool.weights(vectors)[0]
        return {
            name: Belief(mean=float(mean), weight=float(weight))
            for name, mean, weight in zip(self.names, right, weights, strict=True)
        }

    def score_many(self, queries: Sequence[str]) -> Numbers:
        """The priors' means: a row for each query, a column for each model."""
        return self._right(self._encoder.encode(queries))

    def with_models(self, names: Sequence[str]) -> Self:
        """The same, and models that came later: they get the pool's mean, at weight 0."""
        return type(self)(self._encoder, self._pool.with_models(names), self._parts)

    def save(self, folder: Path) -> None:
        """Write numbers and names; nothing in it is run when it is loaded.

        Raises:
            MissingTool: the extra `routemoa` is not installed.
        """
        save_file = safetensors_of().numpy.save_file
        self._encoder.save(folder)
        pool = self._pool
        arrays = {
            **{f"part.{name}": array for name, array in self._parts.items()},
            "centres": pool.clusters.centres,
            "usual": pool.clusters.usual,
            "counts": pool.counts,
        }
        save_file(
            {name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / _ARRAYS
        )
        facts = {
            "kind": type(self).__name__,
            "names": pool.names,
            "labels": pool.labels,
            "platt": asdict(pool.platt),
        }
        (folder / _DESCRIPTION).write_text(json.dumps(facts, indent=1), encoding="utf-8")

    @staticmethod
    def load(folder: Path) -> FittedScorer:
        """As `load_scorer`."""
        return load_scorer(folder)

    def _right(self, vectors: Vectors) -> Numbers:
        return self._pool.right(self._logits(vectors))

    @abstractmethod
    def _logits(self, vectors: Vectors) -> Numbers:
        """Before calibration: a row for each query, a column for each model of the training."""


class LearnedScorer(FittedScorer):
    """A frozen encoder, a projection of its vectors, and an embedding of each model."""

    @classmethod
    def fit(
        cls,
        queries: Sequence[str],
        labels: npt.ArrayLike,
        names: Sequence[str],
        *,
        encoder: Encoder | None = None,
        seed: int = 0,
        plan: TrainingPlan | None = None,
    ) -> LearnedScorer:
        """Train on graded answers.

        Args:
            queries: Texts.
            labels: In [0, 1], a row for each query, a column for each model; NaN where there is none.
            names: Of the models.
            encoder: None takes the sentence model of the extra `routemoa`.
            seed: Of all that is drawn.
            plan: How to train.

        Raises:
            RosterError: the labels do not fit the queries and models, or there is none.
            MissingTool: the extra `routemoa` is not installed.
        """
        plan = plan or TrainingPlan()
        examples = _examples(queries, labels, names)
        encoder = encoder or SentenceEncoder()
        vectors = encoder.encode(examples.queries)
        split = Split.of(len(examples.queries), seed=seed)
        clusters = Clusters.fit(vectors[split.train], num_clusters=plan.num_clusters, seed=seed)
        heads = train_heads(
            vectors[split.train],
            examples.labels[split.train],
            held_out=(vectors[split.held_out], examples.labels[split.held_out]),
            clusters=clusters.of(vectors[split.train]),
            seed=seed,
            plan=plan,
        )
        logits = heads.logits(vectors[split.calibration])
        pool = _pool(
            examples, vectors, clusters, fit_platt(logits, examples.labels[split.calibration])
        )
        return cls(encoder, pool, vars(heads))

    def _logits(self, vectors: Vectors) -> Numbers:
        return Heads(**self._parts).logits(vectors)


class RidgeScorer(FittedScorer):
    """Counts of words, and a linear regression for each model."""

    @classmethod
    def fit(
        cls,
        queries: Sequence[str],
        labels: npt.ArrayLike,
        names: Sequence[str],
        *,
        encoder: Encoder | None = None,
        seed: int = 0,
    ) -> RidgeScorer:
        """Train on graded answers.

        Args:
            queries: Texts.
            labels: As for `LearnedScorer.fit`.
            names: Of the models.
            encoder: None learns terms from the queries.
            seed: Of what is held out.

        Raises:
            RosterError: the labels do not fit the queries and models, or there is none.
        """
        examples = _examples(queries, labels, names)
        encoder = encoder or TfidfEncoder.fit(examples.queries)
        vectors = encoder.encode(examples.queries)
        split = Split.of(len(examples.queries), seed=seed)
        known, there = vectors[split.train], examples.labels[split.train]
        intercepts = (np.nansum(there, 0) + 1.0) / ((~np.isnan(there)).sum(0) + 2.0)
        penalty = best_penalty(
            known,
            there,
            (vectors[split.held_out], examples.labels[split.held_out]),
            intercepts=intercepts,
        )
        parts = {
            "weights": fit_ridge(known, there, intercepts=intercepts, penalty=penalty),
            "intercepts": intercepts.astype(np.float32),
        }
        logits = _linear(parts, vectors[split.calibration])
        platt = fit_platt(logits, examples.labels[split.calibration])
        clusters = Clusters.fit(known, num_clusters=TrainingPlan().num_clusters, seed=seed)
        return cls(encoder, _pool(examples, vectors, clusters, platt), parts)

    def _logits(self, vectors: Vectors) -> Numbers:
        return _linear(self._parts, vectors)


def load_scorer(folder: Path, *, encoder: Encoder | None = None) -> FittedScorer:
    """The scorer that was saved there.

    Args:
        folder: Of `save`.
        encoder: The one that it was trained with, if at hand; None loads it.

    Raises:
        RosterError: there is none, it is damaged, or this machine's sentence model is another.
        MissingTool: the extra `routemoa` is not installed.
    """
    if not (folder / _DESCRIPTION).is_file():
        raise RosterError(f"There is no scorer in {folder}: {_DESCRIPTION} is missing. Train one.")
    with reading(folder):
        scorer = _load(folder, encoder)
        if not all(0 < one.mean < 1 and one.weight >= 0 for one in scorer.score(_PROBE).values()):
            raise ValueError("what it says of a query are no probabilities")
        return scorer


def _load(folder: Path, encoder: Encoder | None) -> FittedScorer:
    facts = json.loads((folder / _DESCRIPTION).read_text(encoding="utf-8"))
    arrays = safetensors_of().numpy.load_file(folder / _ARRAYS)
    pool = Pool(
        names=tuple(facts["names"]),
        labels=tuple(facts["labels"]),
        platt=Platt(**{name: tuple(values) for name, values in facts["platt"].items()}),
        clusters=Clusters(centres=arrays["centres"], usual=arrays["usual"]),
        counts=arrays["counts"],
    )
    parts = {
        name.removeprefix("part."): array
        for name, array in arrays.items()
        if name.startswith("part.")
    }
    kinds: dict[str, type[FittedScorer]] = {
        kind.__name__: kind for kind in (LearnedScorer, RidgeScorer)
    }
    return kinds[facts["kind"]](encoder or load_encoder(folder), pool, parts)


def _examples(queries: Sequence[str], labels: npt.ArrayLike, names: Sequence[str]) -> Examples:
    examples = Examples(
        queries=tuple(queries), names=tuple(names), labels=np.asarray(labels, np.float64)
    )
    if np.isnan(examples.labels).all():
        raise RosterError(
            f"None of {len(queries)} queries has a label of any of {len(names)} models: grade some answers."
        )
    return examples


def _pool(examples: Examples, vectors: Vectors, clusters: Clusters, platt: Platt) -> Pool:
    there = ~np.isnan(examples.labels)
    return Pool(
        names=examples.names,
        labels=tuple(there.sum(0).tolist()),
        platt=platt,
        clusters=clusters,
        counts=clusters.counts(vectors, examples.labels),
    )


def _linear(parts: Mapping[str, Vectors], vectors: Vectors) -> Numbers:
    return logit(np.clip(vectors @ parts["weights"] + parts["intercepts"], 0.02, 0.98))
