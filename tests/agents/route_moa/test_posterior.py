"""Beliefs after answers: what moves them, by how much, and whether they come true."""

from __future__ import annotations

import gzip
import json
import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cuda_gym.agents.route_moa.agreement import shares
from cuda_gym.agents.route_moa.answers import Belief, Proposal
from cuda_gym.agents.route_moa.evidence import Record
from cuda_gym.agents.route_moa.habits import Habit, log_odds, probability
from cuda_gym.agents.route_moa.posterior import AGREEMENT_ALONE, PosteriorWeights, fit, update
from cuda_gym.errors import RosterError
from cuda_gym.models.model import Completion, Usage

RECORDED = Path(__file__).parents[4] / "shared/data/routing/mmlu_pro.json.gz"
USUAL = Habit(mean=0.0, squares=100.0, count=100)
WEIGHTS = PosteriorWeights(
    self_score=0.5,
    peer_score=1.0,
    agreement=2.0,
    usual_agreement=USUAL,
    usual_self=USUAL,
    usual_peer=USUAL,
)
PRIOR = {
    "a": Belief(mean=0.6, weight=3.0),
    "b": Belief(mean=0.6, weight=0.0),
    "c": Belief(mean=0.3, weight=0.0),
}


def test_the_formula_is_the_one_that_is_written_down() -> None:
    weights = replace(WEIGHTS, prior=0.7, bias=0.2)
    after = update(
        PRIOR,
        [proposal("a", 0.8), proposal("b", None)],
        peers=[0.3, None],
        agreement=[1.0, None],
        weights=weights,
    )
    odds = 0.7 * log_odds(0.6) + 0.5 * log_odds(0.8) + log_odds(0.3) + 2.0 * log_odds(0.75) + 0.2
    assert after["a"].mean == pytest.approx(probability(odds))


@pytest.mark.parametrize("kind", ["self", "peer", "agreement"])
def test_each_kind_of_evidence_moves_a_belief_its_way(kind: str) -> None:
    low, high = (one_answer(**{kind: score}) for score in (0.1, 0.9))
    assert low < PRIOR["a"].mean < high


def test_no_score_is_no_evidence() -> None:
    nothing = update(PRIOR, [proposal("a", None)], peers=[None], agreement=[None], weights=WEIGHTS)
    assert nothing == PRIOR


def test_evidence_without_weight_changes_nothing() -> None:
    after = update(
        PRIOR, [proposal("a", 0.9)], peers=[0.9], agreement=[None], weights=AGREEMENT_ALONE
    )
    assert after == PRIOR


def test_the_more_models_agree_the_more_it_proves() -> None:
    beliefs = {name: Belief(mean=0.5, weight=0.0) for name in "abcdefgh"}
    means = []
    for names in ("ab", "abc", "abcdefgh"):
        proposals = [proposal(name, None) for name in names]
        many = len(names)
        after = update(
            beliefs, proposals, peers=[None] * many, agreement=[1.0] * many, weights=AGREEMENT_ALONE
        )
        means.append(after["a"].mean)
    assert means == sorted(means)
    assert means[0] < means[1] < means[2]


def test_a_judge_that_praises_everything_proves_nothing_by_praise() -> None:
    generous = fit([peer_record("generous", 0.95, right=i % 2) for i in range(200)])
    weights = replace(WEIGHTS, peer_habits=generous.peer_habits)
    moved = {}
    for judge in ("generous", "unknown"):
        after = update(
            PRIOR,
            [proposal("a", None)],
            peers=[0.95],
            agreement=[None],
            weights=weights,
            judges=[judge],
        )
        moved[judge] = after["a"].mean - PRIOR["a"].mean
    assert moved["generous"] < moved["unknown"] / 3


def test_models_that_did_not_run_keep_their_beliefs_and_those_that_did_gain_weight() -> None:
    after = update(PRIOR, [proposal("a", 0.4)], peers=[None], agreement=[None], weights=WEIGHTS)
    assert set(after) == set(PRIOR)
    assert (after["b"], after["c"]) == (PRIOR["b"], PRIOR["c"])
    assert after["a"].weight == 4.0


def test_a_bad_prior_recovers_when_those_above_it_fall() -> None:
    after = update(
        PRIOR,
        [proposal("a", 0.5), proposal("b", 0.5)],
        peers=[0.1, 0.2],
        agreement=[0.0, 0.0],
        weights=WEIGHTS,
    )
    assert max(after, key=lambda name: after[name].mean) == "c"
    proposals = [proposal("a", 0.5), proposal("b", 0.5), proposal("c", 0.9, layer=1)]
    last = update(
        PRIOR, proposals, peers=[0.1, 0.2, None], agreement=[0.0, 0.0, None], weights=WEIGHTS
    )
    assert last["c"].mean > after["c"].mean > max(after["a"].mean, after["b"].mean)


def test_all_layers_so_far_are_weighed_at_once_and_the_newest_score_counts() -> None:
    first, second = proposal("a", 0.1), proposal("a", 0.9, layer=1)
    both = update(
        PRIOR, [first, second], peers=[0.7, None], agreement=[None, None], weights=WEIGHTS
    )
    one = update(PRIOR, [second], peers=[0.7], agreement=[None], weights=WEIGHTS)
    assert both["a"].mean == one["a"].mean
    assert both["a"].weight == one["a"].weight + 1


def test_agreement_after_reading_each_other_counts_only_by_a_weight_of_its_own() -> None:
    late = [proposal("a", None, layer=1), proposal("b", None, layer=1)]
    unfitted = update(PRIOR, late, peers=[None] * 2, agreement=[1.0] * 2, weights=WEIGHTS)
    assert unfitted == PRIOR
    fitted = replace(WEIGHTS, later_agreement=0.5)
    after = update(PRIOR, late, peers=[None] * 2, agreement=[1.0] * 2, weights=fitted)
    early = update(
        PRIOR,
        [proposal("a", None), proposal("b", None)],
        peers=[None] * 2,
        agreement=[1.0] * 2,
        weights=WEIGHTS,
    )
    assert PRIOR["a"].mean < after["a"].mean < early["a"].mean


def test_a_question_that_looks_hard_is_hard_for_models_that_were_not_asked() -> None:
    asked = [proposal("a", None), proposal("b", None)]
    weights = replace(WEIGHTS, ease=0.8)
    means = []
    for share in (0.0, 1.0):
        after = update(PRIOR, asked, peers=[None] * 2, agreement=[share] * 2, weights=weights)
        assert after["c"].weight == PRIOR["c"].weight
        means.append(after["c"].mean)
    assert means[0] < PRIOR["c"].mean < means[1]
    assert after["c"].mean < after["a"].mean


def test_agreement_after_reading_each_other_does_not_make_a_question_easy() -> None:
    weights = replace(WEIGHTS, ease=0.8)
    first = [proposal("a", None), proposal("b", None)]
    later = [proposal("a", None, layer=1), proposal("b", None, layer=1)]
    one = update(PRIOR, first, peers=[None] * 2, agreement=[0.0] * 2, weights=weights)
    two = update(
        PRIOR,
        first + later,
        peers=[None] * 4,
        agreement=[0.0, 0.0, 1.0, 1.0],
        weights=weights,
    )
    assert one["c"] == two["c"]


def test_a_model_that_answers_late_is_not_thought_better_for_it() -> None:
    weights = replace(WEIGHTS, ease=0.8)
    first = [proposal("a", None), proposal("b", None)]
    later = [*first, proposal("c", None, layer=1), proposal("a", None, layer=1)]
    before = update(PRIOR, first, peers=[None] * 2, agreement=[0.0] * 2, weights=weights)
    after = update(PRIOR, later, peers=[None] * 4, agreement=[0.0, 0.0, 1.0, 1.0], weights=weights)
    assert after["c"].mean == before["c"].mean < PRIOR["c"].mean


def test_ease_is_fitted_on_models_that_were_not_asked() -> None:
    asked = list(simulated(500, seed=5))
    rng = random.Random(6)
    others = [
        replace(record, self_score=None, answered=False, right=float(rng.random() < chance))
        for record in asked
        for chance in [probability(log_odds(record.prior) + 2 * ((record.agreement or 0.0) - 0.5))]
    ]
    weights = fit(asked + others)
    assert weights.ease > 0.3
    assert weights.agreement == pytest.approx(fit(asked).agreement, abs=0.05)


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_a_belief_stays_a_probability_whatever_is_claimed(score: float) -> None:
    weights = replace(WEIGHTS, self_score=50.0)
    after = update(PRIOR, [proposal("a", score)], peers=[score], agreement=[None], weights=weights)
    assert 0 < after["a"].mean < 1


def test_fitted_weights_find_which_evidence_is_worth_something() -> None:
    weights = fit(list(simulated(3000, seed=1)))
    assert weights.self_score == pytest.approx(0.5, abs=0.15)
    assert weights.peer_score == 0.0
    assert weights.agreement == pytest.approx(1.5, abs=0.25)
    assert weights.later_agreement == 0.0


@pytest.mark.parametrize(("worth", "number"), [(0.0, 400), (0.4, 1500), (1.5, 400)])
def test_only_a_score_that_is_worth_something_is_asked_for(worth: float, number: int) -> None:
    """In many made-up pools: every second worthless score would have a weight by chance."""
    found = [fit(list(scored(number, worth, seed=seed))) for seed in range(10)]
    assert [weights.self_score > 0 for weights in found] == [worth > 0] * 10
    assert sum(weights.self_score for weights in found) / 10 == pytest.approx(worth, abs=0.15)
    assert all(weights.agreement > 1.0 for weights in found)


def test_a_score_that_speaks_against_itself_counts_for_nothing() -> None:
    assert fit(list(scored(2000, -1.0, seed=1))).self_score == 0.0


def test_of_two_scores_that_say_the_same_one_is_left() -> None:
    twice = [
        replace(record, peer_score=record.self_score, judge="judge")
        for record in scored(2000, 1.0, seed=0)
    ]
    weights = fit(twice)
    assert sorted((weights.self_score, weights.peer_score)) == [0.0, pytest.approx(1.0, abs=0.2)]


def test_few_records_prove_no_score() -> None:
    weights = fit(list(scored(8, 1.5, seed=1)))
    assert (weights.self_score, weights.peer_score) == (0.0, 0.0)


def test_fitted_beliefs_come_true_on_other_questions() -> None:
    weights = fit(list(simulated(3000, seed=2)))
    rated = sorted((rate(record, weights), record.right) for record in simulated(3000, seed=3))
    for part in range(5):
        group = rated[part * 600 : (part + 1) * 600]
        expected = sum(mean for mean, _ in group) / len(group)
        assert sum(right for _, right in group) / len(group) == pytest.approx(expected, abs=0.06)


def test_without_records_the_prior_stands() -> None:
    weights = fit([])
    assert (
        update(PRIOR, [proposal("a", 0.9)], peers=[0.9], agreement=[None], weights=weights) == PRIOR
    )


def test_records_that_are_all_right_leave_the_weights_finite() -> None:
    weights = fit([Record(model="a", prior=0.5, right=1.0, agreement=1.0, others=2)] * 100)
    assert 0 < weights.bias < 10


def test_weights_are_read_as_they_were_written(tmp_path: Path) -> None:
    weights = fit(list(simulated(50, seed=4)))
    weights.save(tmp_path / "weights.json")
    assert PosteriorWeights.load(tmp_path / "weights.json") == weights


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"prior": 1.0, "unknown": 2}'])
def test_a_file_without_weights_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "weights.json"
    path.write_text(text)
    with pytest.raises(RosterError, match=r"weights\.json holds no posterior weights"):
        PosteriorWeights.load(path)


def test_weights_that_are_no_numbers_are_refused_also_from_a_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="self_score is nan"):
        PosteriorWeights(self_score=math.nan)
    PosteriorWeights().save(tmp_path / "weights.json")
    text = (tmp_path / "weights.json").read_text().replace('"prior": 1.0', '"prior": NaN')
    (tmp_path / "weights.json").write_text(text)
    with pytest.raises(RosterError, match="prior is nan"):
        PosteriorWeights.load(tmp_path / "weights.json")


@pytest.mark.slow
@pytest.mark.skipif(not RECORDED.exists(), reason=f"no recorded answers at {RECORDED}")
def test_weights_for_everybody_hold_on_answers_of_real_models() -> None:
    rated: dict[float, list[tuple[float, float]]] = {}
    for names, priors, answers, right in recorded_layers():
        beliefs = {
            name: Belief(mean=mean, weight=0.0) for name, mean in zip(names, priors, strict=True)
        }
        agreement = shares(answers)
        after = update(
            beliefs,
            [proposal(name, None) for name in names],
            peers=[None] * 3,
            agreement=agreement,
            weights=AGREEMENT_ALONE,
        )
        for name, share, is_right in zip(names, agreement, right, strict=True):
            assert share is not None
            rated.setdefault(share, []).append((after[name].mean, is_right))
    for seen in rated.values():
        expected, found = (sum(column) / len(seen) for column in zip(*seen, strict=True))
        assert found == pytest.approx(expected, abs=0.05)


def one_answer(**scores: float) -> float:
    """The belief in `a` after one answer beside another."""
    proposals = [proposal("a", scores.get("self")), proposal("b", None)]
    after = update(
        PRIOR,
        proposals,
        peers=[scores.get("peer"), None],
        agreement=[scores.get("agreement"), None],
        weights=WEIGHTS,
    )
    return after["a"].mean


def recorded_layers() -> Iterator[tuple[list[str], list[float], list[str], list[float]]]:
    """Of each question of MMLU-Pro: three of its models, their priors, answers, and which are right."""
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))
    questions, models = recorded["questions"], recorded["models"]
    rng = random.Random(5)
    known = {
        name: {
            key: seen for key, seen in answers.items() if key in questions and seen["prediction"]
        }
        for name, answers in models.items()
    }
    means = {
        name: sum(seen["prediction"] == questions[key]["answer"] for key, seen in answers.items())
        / len(answers)
        for name, answers in known.items()
    }
    for key, question in questions.items():
        there = [name for name in known if key in known[name]]
        if len(there) < 3:
            continue
        names = rng.sample(there, 3)
        answers = [known[name][key]["prediction"] for name in names]
        right = [float(answer == question["answer"]) for answer in answers]
        yield names, [means[name] for name in names], answers, right


def rate(record: Record, weights: PosteriorWeights) -> float:
    after = update(
        {"a": Belief(mean=record.prior, weight=0.0), "b": PRIOR["b"], "c": PRIOR["c"]},
        [proposal("a", record.self_score), proposal("b", None), proposal("c", None)],
        peers=[record.peer_score, None, None],
        agreement=[record.agreement, None, None],
        weights=weights,
        judges=["judge", None, None],
    )
    return after["a"].mean


def simulated(number: int, *, seed: int) -> Iterable[Record]:
    """Answers that are right by a known formula: half a self score, no peer's, 1.5 of agreement."""
    rng = random.Random(seed)
    for _ in range(number):
        prior, own, agrees = rng.uniform(0.2, 0.9), rng.gauss(0, 1), rng.choice([0.0, 0.5, 1.0])
        z = (agrees - 0.5) / (1 / 6) ** 0.5
        odds = 0.8 * log_odds(prior) + 0.5 * own + 1.5 * z
        yield Record(
            model="a",
            prior=prior,
            right=float(rng.random() < probability(odds)),
            self_score=probability(own + 1.5),
            peer_score=rng.random(),
            judge="judge",
            agreement=agrees,
            others=2,
        )


def scored(number: int, worth: float, *, seed: int) -> Iterable[Record]:
    """Answers with a self score of such a weight in the truth, whose models are one as sure as the other."""
    rng = random.Random(seed)
    for _ in range(number):
        prior, own, agrees = rng.uniform(0.2, 0.9), rng.gauss(0, 1), rng.choice([0.0, 0.5, 1.0])
        odds = 0.8 * log_odds(prior) + worth * own + 1.5 * (agrees - 0.5) / (1 / 6) ** 0.5
        yield Record(
            model="a",
            prior=prior,
            right=float(rng.random() < probability(odds)),
            self_score=probability(own + 1.5),
            agreement=agrees,
            others=2,
        )


def peer_record(judge: str, score: float, *, right: float) -> Record:
    return Record(model="x", prior=0.5, right=right, peer_score=score, judge=judge)


def proposal(model: str, self_score: float | None, *, layer: int = 0) -> Proposal:
    usage = Usage(prompt_tokens=1, completion_tokens=1)
    return Proposal(
        model=model,
        layer=layer,
        text="B",
        self_score=self_score,
        peer_scores=(),
        completion=Completion(model=model, text="B", usage=usage, latency_s=1.0, cost_usd=0.0),
    )
