"""What is seen of a graded question, as the weights of evidence are fitted on it."""

from __future__ import annotations

import pytest
from tests.agents.route_moa.crews import QUERY, Crowd, One, reply

from cuda_gym.agents.route_moa.evidence import Record, records_of
from cuda_gym.agents.route_moa.layers import MixturePlan
from cuda_gym.agents.route_moa.posterior import AGREEMENT_ALONE, fit


def grade(text: str) -> float:
    return float(text == "42")


def crowd() -> Crowd:
    return Crowd(
        {
            "sure": One(says=reply("42", 0.9, [0.8, 0.1]), prior=0.7),
            "lost": One(says=reply("41", 0.2, [0.5, 0.5]), prior=0.6),
            "idle": One(prior=0.3),
        }
    )


def test_a_mixture_that_learns_goes_on_where_another_would_stop_and_tells_scores_and_agreement() -> (
    None
):
    plan = MixturePlan.to_learn(width=2)
    answer = crowd().mixture(plan, AGREEMENT_ALONE).answer(QUERY)
    assert len(answer.route.layers) == 2
    records = records_of(answer, grade=grade)
    seen = [(one.model, one.layer, one.right, one.prior, one.self_score) for one in records]
    assert seen == [
        ("sure", 0, 1.0, 0.7, 0.9),
        ("lost", 0, 0.0, 0.6, 0.2),
        ("sure", 1, 1.0, 0.7, 0.9),
        ("lost", 1, 0.0, 0.6, 0.2),
    ]
    assert [(one.judge, one.peer_score) for one in records] == [
        ("sure", None),  # of its own answer
        ("sure", 0.1),
        (None, None),
        (None, None),
    ]
    assert {(one.agreement, one.others) for one in records} == {(0.0, 1)}


def test_models_that_were_not_called_tell_how_easy_the_question_looked() -> None:
    answer = crowd().mixture(MixturePlan.to_learn(width=2), AGREEMENT_ALONE).answer(QUERY)
    *_, idle = records_of(answer, grade=grade, not_called={"idle": 1.0, "lost": 0.0})
    assert (idle.model, idle.answered, idle.right, idle.agreement) == ("idle", False, 1.0, 0.0)
    assert len(records_of(answer, grade=grade)) == 4


def test_a_mixture_of_one_layer_is_seen_as_far_as_it_goes() -> None:
    answer = crowd().mixture(MixturePlan(width=1, max_layers=1), AGREEMENT_ALONE).answer(QUERY)
    (only,) = records_of(answer, grade=grade, not_called={"idle": 1.0})
    assert (only.model, only.agreement, only.others) == ("sure", None, 0)


def test_weights_are_fitted_on_what_is_seen() -> None:
    hard = Crowd({name: One(says=f"it is {name}", prior=0.5) for name in "ab"})
    easy = Crowd({name: One(says="42", prior=0.5) for name in "ab"})
    plan = MixturePlan.to_learn(width=2)
    records: list[Record] = []
    for one in (hard, easy):
        answer = one.mixture(plan, AGREEMENT_ALONE).answer(QUERY)
        records += records_of(answer, grade=grade) * 20
    weights = fit(records)
    assert weights.agreement > 0.5
    assert weights.self_score == 0.0
    assert weights.usual_agreement.mean == pytest.approx(0.0, abs=1e-6)
