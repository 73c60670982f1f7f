"""What a mixture sees of questions whose answers are known: for the weights of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from benchmarks.routing_replay.loading import Pool, Question
from benchmarks.routing_replay.simulation import answer_in

from cuda_gym.agents.route_moa.agreement import shares
from cuda_gym.agents.route_moa.answers import Answer, Proposal, Scorer
from cuda_gym.agents.route_moa.judges import assess
from cuda_gym.agents.route_moa.layers import Mixture, MixturePlan
from cuda_gym.agents.route_moa.posterior import AGREEMENT_ALONE, Record
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
            plan=MixturePlan(
                width=width,
                exit_posterior=1.0,
                exits_on_unanimity=False,
                asks_for_scores=True,
                limits=LIMITS,
            ),
            completion_tokens=tokens,
        )
        for width in widths
    ]
    records: list[Record] = []
    for number, question in enumerate(questions):
        answer = explorers[number % len(explorers)].answer(question.text)
        records += _seen(answer, question, pool)
    return records


def recorded_alone(records: Sequence[Record]) -> list[Record]:
    """What is left without simulation: the first layer, and no scores."""
    return [
        replace(record, self_score=None, peer_score=None, judge=None)
        for record in records
        if record.layer == 0
    ]


def _seen(answer: Answer, question: Question, pool: Pool) -> list[Record]:
    """Evidence of the first two layers: the third is asked for plain answers."""
    route = answer.route
    first, second, *_ = [layer.proposals for layer in route.layers] + [(), ()]
    assessment = assess(first, second, route.layers[0].beliefs)
    records = []
    for proposals, peers, judge in (
        (first, assessment.peers, assessment.judge),
        (second, (None,) * len(second), None),
    ):
        agreement = shares([proposal.text for proposal in proposals])
        for proposal, peer, share in zip(proposals, peers, agreement, strict=True):
            records.append(
                Record(
                    model=proposal.model,
                    prior=route.prior[proposal.model].mean,
                    right=pool.score(question.id, answer_in(proposal.text)),
                    self_score=proposal.self_score,
                    peer_score=peer,
                    judge=judge,
                    agreement=share,
                    others=len(proposals) - 1,
                    layer=proposal.layer,
                )
            )
    return records + _not_called(first, answer, question, pool)


def _not_called(
    first: Sequence[Proposal], answer: Answer, question: Question, pool: Pool
) -> list[Record]:
    agreement = [share for share in shares([one.text for one in first]) if share is not None]
    if not agreement:
        return []
    called = {proposal.model for proposal in first}
    return [
        Record(
            model=model,
            prior=answer.route.prior[model].mean,
            right=pool.recordings[model][question.id].score,
            agreement=float(np.mean(agreement)),
            others=len(first) - 1,
            answered=False,
        )
        for model in pool.models
        if model not in called and question.id in pool.recordings[model]
    ]
