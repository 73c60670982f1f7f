"""Routing replayed: what is simulated follows its rules, and what is told of methods is fair."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from benchmarks.routing_replay.encodings import KeptEncoder
from benchmarks.routing_replay.evidence import LIMITS
from benchmarks.routing_replay.fitting import LeakedQuestion, Split, best_three, split
from benchmarks.routing_replay.loading import (
    POOLS,
    Pool,
    data_folder,
    load_pool,
)
from benchmarks.routing_replay.outcomes import outcome_of
from benchmarks.routing_replay.picture import front
from benchmarks.routing_replay.simulation import Rules, answer_in, replaying_models, written
from tests.benchmarks.letters import MODELS, pool

from cuda_gym.agents.route_moa.answers import Answer
from cuda_gym.agents.route_moa.baselines import ClassicalMoA, StaticBestK
from cuda_gym.agents.route_moa.crew import Crew
from cuda_gym.agents.route_moa.encoders import TfidfEncoder, Vectors
from cuda_gym.agents.route_moa.judges import read_reply
from cuda_gym.agents.route_moa.prompts import Step, compose


def crew(rules: Rules) -> Crew:
    return Crew(roster=pool().roster, models=dict(replaying_models(pool(), rules)), limits=LIMITS)


def answers(method: Any) -> list[Answer]:
    return [method.answer(question.text) for question in pool().questions]


def test_a_recorded_answer_survives_the_whole_code_path() -> None:
    method = StaticBestK(crew=crew(Rules()), order=MODELS)
    assert [answer_in(answer.text) for answer in answers(method)] == ["A", "B", "A", "B"]


def test_an_answer_is_as_long_and_as_slow_as_recorded() -> None:
    first = answers(StaticBestK(crew=crew(Rules()), order=MODELS))[0]
    assert [line.usage.completion_tokens for line in first.route.bill.lines] == [50, 50, 50]
    assert first.route.latency_s == pytest.approx(1.5)


def test_a_model_that_always_adopts_says_what_most_say() -> None:
    moa = ClassicalMoA(crew=crew(Rules(adoption=1.0)), names=MODELS, aggregators=MODELS, layers=2)
    second = answers(moa)[0].route.layers[1].proposals
    assert [answer_in(proposal.text) for proposal in second] == ["A", "A", "A"]


def test_a_model_that_never_adopts_says_what_it_said() -> None:
    moa = ClassicalMoA(crew=crew(Rules(adoption=0.0)), names=MODELS, aggregators=MODELS, layers=2)
    second = answers(moa)[0].route.layers[1].proposals
    assert [answer_in(proposal.text) for proposal in second] == ["A", "A", "B"]


def test_an_aggregator_that_drifts_says_its_own() -> None:
    drifting = ClassicalMoA(
        crew=crew(Rules(drift=1.0)), names=MODELS, aggregators=("poor",), layers=1
    )
    faithful = ClassicalMoA(crew=crew(Rules()), names=MODELS, aggregators=("poor",), layers=1)
    assert answer_in(answers(drifting)[0].text) == "B"
    assert answer_in(answers(faithful)[0].text) == "A"


def test_an_answer_made_of_others_is_told_to_rest_on_simulation() -> None:
    one = pool().questions[0]
    vote = answers(StaticBestK(crew=crew(Rules()), order=MODELS))[0]
    made = answers(StaticBestK(crew=crew(Rules()), order=MODELS, ends="aggregator"))[0]
    assert not outcome_of(vote, one, pool()).rests_on_simulation
    assert outcome_of(made, one, pool()).rests_on_simulation


def test_no_result_agrees_with_no_other() -> None:
    assert answer_in(written(None, 100, "poor")) is None
    assert written(None, 100, "poor") != written(None, 100, "fair")


def test_self_scores_tell_right_from_wrong_as_well_as_stated() -> None:
    many = pool(repeats=300)
    model = replaying_models(many, Rules(self_auc=0.8))["good"]
    scores: dict[bool, list[float]] = {True: [], False: []}
    for question in many.questions:
        prompt = compose(Step.FIRST, question.text, context_tokens=9_000, reserve_tokens=0)
        score = read_reply(model.complete(prompt.messages).text).self_score
        assert score is not None
        scores[many.recordings["good"][question.id].score == 1.0].append(score)
    right, wrong = np.array(scores[True])[:, None], np.array(scores[False])[None, :]
    assert ((right > wrong) + 0.5 * (right == wrong)).mean() == pytest.approx(0.8, abs=0.04)


def test_replies_are_the_same_each_time() -> None:
    question = pool().questions[0].text
    prompt = compose(
        Step.AGAIN, question, ["\\boxed{A}", "?"], context_tokens=9_000, reserve_tokens=0
    )
    first, second = (
        replaying_models(pool(), Rules())["fair"].complete(prompt.messages).text for _ in range(2)
    )
    assert first == second
    assert len(json.loads(first)["peer_scores"]) == 2


def test_no_question_is_both_trained_and_tested_on() -> None:
    parts = split(pool(repeats=10), seed=1)
    learn, tune, test = (
        {question.id for question in part} for part in (parts.learn, parts.tune, parts.test)
    )
    assert len(learn) + len(tune) + len(test) == len(learn | tune | test) == 40


def llmrouter_in(folder: Path, *, train: Sequence[str], test: Sequence[str]) -> Pool:
    """A pool of that name, of these questions."""
    rows = {
        part: [
            {"question": text, "task": "letters", "scores": {"good": 1.0, "poor": 0.0}}
            for text in texts
        ]
        for part, texts in (("train", train), ("test", test))
    }
    price = {"input_price": 1.0, "output_price": 1.0, "size": "7B"}
    prices = {"prices_usd_per_million_tokens": {"good": price, "poor": price}}
    with gzip.open(folder / "llmrouter.json.gz", "wt", encoding="utf-8") as file:
        json.dump({**rows, **prices}, file)
    (folder / "pools.json").write_text("{}")
    return load_pool(folder, "llmrouter")


def test_what_is_tested_on_is_left_out_of_the_training_in_whatever_letters(tmp_path: Path) -> None:
    found = llmrouter_in(
        tmp_path,
        train=["What is A?", "what  is b", "What is C?", "What is D?"],
        test=["What is A?", "What is B?", "What is E?"],
    )
    parts = split(found, seed=0)
    assert {question.text for question in parts.train} == {"What is C?", "What is D?"}
    assert {question.text for question in parts.test} == {"What is A?", "What is B?", "What is E?"}
    assert (found.num_repeated, parts.num_left_out) == (1, 1)


def test_questions_that_ask_the_same_are_left_out_of_the_training_in_a_drawn_split_too() -> None:
    many = pool(repeats=10)
    asked = [replace(one, asked=f"Q{int(one.id) // 2}") for one in many.questions]
    twins = replace(many, questions=tuple(asked))
    for seed in range(5):
        parts = split(twins, seed)
        assert not {one.key for one in parts.train} & {one.key for one in parts.test}
        assert len(parts.train) == 20 - parts.num_left_out < 20 == len(parts.test)


def test_a_split_that_leaks_cannot_be() -> None:
    first, second, *_ = pool().questions
    louder = replace(first, id="louder", text=first.text.upper())
    with pytest.raises(LeakedQuestion, match="'louder'"):
        Split(learn=(second,), tune=(louder,), test=(first,))


def test_the_static_best_three_are_in_the_order_of_their_tie_break() -> None:
    assert best_three(pool(), pool().questions, MODELS) == MODELS


def test_an_encoder_keeps_the_vectors_of_its_own_texts_and_of_no_others(tmp_path: Path) -> None:
    class Counting(TfidfEncoder):
        asked: ClassVar[list[str]] = []

        def encode(self, texts: Sequence[str]) -> Vectors:
            self.asked.extend(texts)
            return super().encode(texts)

    inner = Counting(["cat", "dog"], np.ones(2, np.float32))
    own = ["a cat", "a dog"]
    kept = KeptEncoder(inner, own, tmp_path)
    files = list(tmp_path.iterdir())
    inner.asked.clear()
    others = [f"cat and dog {number}" for number in range(200)]
    assert kept.encode([*own, others[0]]).shape == (3, 2)
    assert kept.encode(others).tolist() == kept.encode(others).tolist()
    assert inner.asked == [*own, others[0], *others, *others]
    assert list(tmp_path.iterdir()) == files
    inner.asked.clear()
    assert KeptEncoder(inner, own, tmp_path).encode(own).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert inner.asked == [own[0]]


def test_vectors_that_another_encoder_made_are_made_anew(tmp_path: Path) -> None:
    texts = ["cat", "cat and dog"]
    for terms in (["cat", "dog"], ["dog", "cow"]):
        encoder = TfidfEncoder(terms, np.ones(2, np.float32))
        kept = KeptEncoder(encoder, texts, tmp_path)
        assert kept.encode(texts).tolist() == encoder.encode(texts).tolist()


def test_the_front_leaves_out_what_is_dearer_and_no_better() -> None:
    assert front([(3.0, 0.7), (2.0, 0.5), (1.0, 0.6)]) == [(1.0, 0.6), (3.0, 0.7)]


@pytest.mark.skipif(
    not data_folder().is_dir(), reason="the recorded answers are not beside the repository"
)
def test_pools_have_the_models_and_questions_that_are_recorded() -> None:
    found = {name: load_pool(data_folder(), name) for name in ("zeroeval_7_cheap", "llmrouter")}
    assert set(found) < set(POOLS)
    assert [(len(one.questions), len(one.models)) for one in found.values()] == [
        (2273, 7),
        (5989, 9),
    ]
    assert [one.num_repeated for one in found.values()] == [0, 119]
    right = found["zeroeval_7_cheap"].labels(found["zeroeval_7_cheap"].questions)
    assert right.max(axis=1).mean() == pytest.approx(0.77, abs=0.001)
