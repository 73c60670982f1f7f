"""What a mixture sees of questions whose answers are known: for the weights of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from benchmarks.routing_replay.loading import Pool, Question
from benchmarks.routing_replay.simulation import answer_in

from cuda_gym.agents.route_moa import evidence
from cuda_gym.agents.route_moa.answers import Scorer
from cuda_gym.agents.route_moa.evidence import Record
from cuda_gym.agents.route_moa.layers import Mixture, MixturePlan
from cuda_gym.agents.route_moa.posterior import AGREEMENT_ALONE
from cuda_gym.models.model import Limits, Model

__all__ = ["LIMITS", "recorded_alone", "records_of"]

LIMITS = Limits(max_tokens=4096, timeout_s=3600.0)
"""Of time there is enough: a slow recorded model is slow in the table, not missing from it."""


def records_of(
    pool: Pool,
    scorer: Scorer,
    models: Mapping[str, Model],
    questions: Sequence[Question],
    tokens: Mapping[str, float],
) -> list[Record]:
    """What a mixture sees of questions whose answers are known, by two to five models a layer."""
    widths = [width for width in (2, 3, 5) if width <= len(pool.models)]
    explorers = [
        Mixture(
            pool.roster,
            models,
            scorer,
            weights=AGREEMENT_ALONE,
            plan=MixturePlan.to_learn(width=width, limits=LIMITS),
            completion_tokens=tokens,
        )
        for width in widths
    ]
    records: list[Record] = []
    for number, question in enumerate(questions):
        records += evidence.records_of(
            explorers[number % len(explorers)].answer(question.text),
            grade=partial(_score, pool, question),
            not_called={
                model: pool.recordings[model][question.id].score
                for model in pool.models
                if question.id in pool.recordings[model]
            },
        )
    return records


def recorded_alone(records: Sequence[Record]) -> list[Record]:
    """What is left without simulation: the first layer, and no scores."""
    return [
        replace(record, self_score=None, peer_score=None, judge=None)
        for record in records
        if record.layer == 0
    ]


def _score(pool: Pool, question: Question, text: str) -> float:
    return pool.score(question.id, answer_in(text))
