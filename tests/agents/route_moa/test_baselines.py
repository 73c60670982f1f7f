from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from tests.agents.route_moa.crews import DOWN, QUERY, Crowd, One, reply

from cuda_gym.agents.route_moa.answers import Answer, NoAnswer
from cuda_gym.agents.route_moa.baselines import (
    BestPerCategory,
    BestSingle,
    Cascade,
    ClassicalMoA,
    Method,
    Oracle,
    PluralityOfAll,
    SelfMoA,
    SparseMoA,
    StaticBestK,
    cheap_to_dear,
)
from cuda_gym.agents.route_moa.crew import Crew
from cuda_gym.errors import ContextExceeded
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Limits, Message
from cuda_gym.models.scripted import ScriptedModel

NAMES = ("a", "b", "c")

METHODS: dict[str, Callable[[Crowd], Method]] = {
    "best single": lambda crowd: BestSingle(crew=crowd.crew, order=NAMES),
    "best per category": lambda crowd: BestPerCategory(
        crew=crowd.crew, orders={}, otherwise=NAMES, category_of=str
    ),
    "static best k": lambda crowd: StaticBestK(crew=crowd.crew, order=NAMES, k=2),
    "plurality of all": lambda crowd: PluralityOfAll(crew=crowd.crew, order=NAMES),
    "MoA": lambda crowd: ClassicalMoA(crew=crowd.crew, names=NAMES, aggregators=NAMES),
    "SMoA": lambda crowd: SparseMoA(
        crew=crowd.crew, names=NAMES, judges=NAMES, aggregators=NAMES, keep=2
    ),
    "Self-MoA": lambda crowd: SelfMoA(crew=crowd.crew, model="a", samples=3),
    "cascade": lambda crowd: Cascade(crew=crowd.crew, order=NAMES),
    "oracle": lambda crowd: Oracle(crew=crowd.crew, is_right=lambda query, model: model == "b"),
}
every_method = pytest.mark.parametrize("name", METHODS)


def crowd(*says: str | Sequence[str]) -> Crowd:
    return Crowd(dict(zip(NAMES, map(One, says), strict=True)))


def seen(messages: Sequence[Message]) -> str:
    return messages[-1].content


def kinds(answer: Answer) -> list[str]:
    return [line.billed_for for line in answer.route.bill.lines]


@every_method
def test_every_method_answers_under_its_own_name_and_bills_every_call(name: str) -> None:
    asked = crowd("42", "42", "42")
    method = METHODS[name](asked)
    answer = method.answer(QUERY)
    assert method.name == name
    assert answer.text == "42"
    assert len(answer.route.bill.lines) == sum(asked.called.values())
    assert answer.route.bill.cost_usd > 0


@every_method
def test_every_method_says_so_and_bills_it_where_all_models_are_down(name: str) -> None:
    down = Crowd({model: One(fails=DOWN) for model in NAMES})
    with pytest.raises(NoAnswer, match="nobody is there") as caught:
        METHODS[name](down).answer(QUERY)
    assert {line.billed_for for line in caught.value.bill.lines} == {"failed"}


@every_method
def test_every_method_refuses_a_query_that_nobody_can_read_before_any_call(name: str) -> None:
    asked = crowd("42", "42", "42")
    with pytest.raises(ContextExceeded):
        METHODS[name](asked).answer("word " * 20_000)
    assert asked.called == {}


def test_the_best_single_model_is_asked_alone_and_plainly() -> None:
    asked = crowd("1", "2", "3")
    answer = BestSingle(crew=asked.crew, order=("b", "a", "c")).answer(QUERY)
    assert (answer.text, asked.called) == ("2", {"b": 1})
    assert "score" not in asked.scripted["b"].calls[0][0].content


def test_the_next_best_stands_in_for_a_model_that_is_down() -> None:
    asked = Crowd({"a": One(fails=DOWN), "b": One(says="2")})
    answer = BestSingle(crew=asked.crew, order=("a", "b")).answer(QUERY)
    assert answer.text == "2"
    assert kinds(answer) == ["failed", "proposer"]


def test_each_category_has_its_own_best_model() -> None:
    asked = crowd("1", "2", "3")
    method = BestPerCategory(
        crew=asked.crew,
        orders={"law": ("b",), "physics": ("c",)},
        otherwise=("a",),
        category_of=lambda query: query.split(":")[0],
    )
    assert [method.answer(f"{kind}: ?").text for kind in ("law", "physics", "art")] == list("231")


def test_k_models_vote_and_the_best_decides_a_tie() -> None:
    assert StaticBestK(crew=crowd("1", "2", "2").crew, order=NAMES).answer(QUERY).text == "2"
    assert StaticBestK(crew=crowd("1", "2", "3").crew, order=NAMES).answer(QUERY).text == "1"


def test_k_models_may_end_in_an_aggregator() -> None:
    asked = crowd(["1", "all in all 2"], "2", "3")
    answer = StaticBestK(crew=asked.crew, order=NAMES, k=2, ends="aggregator").answer(QUERY)
    assert (answer.text, answer.route.aggregator) == ("all in all 2", "a")
    assert asked.called == {"a": 2, "b": 1}
    assert kinds(answer) == ["proposer", "proposer", "aggregator"]


def test_a_plurality_of_all_leaves_out_who_is_down() -> None:
    asked = Crowd(
        {"a": One(says="1"), "b": One(says="2"), "c": One(says="2"), "d": One(fails=DOWN)}
    )
    answer = PluralityOfAll(crew=asked.crew, order=("d", "a", "b", "c")).answer(QUERY)
    assert answer.text == "2"
    assert set(asked.called) == {"a", "b", "c", "d"}


def test_a_classical_mixture_asks_all_in_all_layers_and_shows_them_all_answers() -> None:
    asked = crowd("one", "two", "three")
    answer = ClassicalMoA(crew=asked.crew, names=NAMES, aggregators=("c",), layers=2).answer(QUERY)
    assert asked.called == {"a": 2, "b": 2, "c": 3}
    assert all(word in seen(asked.scripted["a"].calls[1]) for word in ("one", "two", "three"))
    assert answer.route.aggregator == "c"
    assert answer.route.latency_s == 3.0


def test_a_sparse_mixture_passes_on_only_what_its_judge_keeps() -> None:
    asked = crowd("one", "two", ["three", '{"keep": [3, 2]}', "three", '{"keep": [3, 2]}', "end"])
    method = SparseMoA(
        crew=asked.crew, names=NAMES, judges=("c",), aggregators=("c",), keep=2, layers=2
    )
    answer = method.answer(QUERY)
    shown = seen(asked.scripted["a"].calls[1])
    assert "one" not in shown
    assert shown.index("three") < shown.index("two")
    assert answer.text == "end"
    assert kinds(answer).count("judge") == 2


@pytest.mark.parametrize("says", ["all are fine", '{"keep": [7]}', '{"keep": ["one"]}', "[0, 1]"])
def test_a_judge_that_does_not_choose_leaves_the_first_by_rank(says: str) -> None:
    asked = crowd("one", "two", ["three", says, "end"])
    SparseMoA(
        crew=asked.crew, names=NAMES, judges=("c",), aggregators=("a",), keep=2, layers=1
    ).answer(QUERY)
    shown = seen(asked.scripted["a"].calls[-1])
    assert "one" in shown
    assert "two" in shown
    assert "three" not in shown


def test_self_moa_samples_one_model_and_has_it_make_one_of_its_answers() -> None:
    asked = crowd(["1", "2", "3", "end"], "", "")
    answer = SelfMoA(crew=asked.crew, model="a", samples=3).answer(QUERY)
    assert asked.called == {"a": 4}
    assert all(number in seen(asked.scripted["a"].calls[3]) for number in "123")
    assert answer.text == "end"


def test_self_moa_samples_at_a_temperature_and_aggregates_without() -> None:
    temperatures: list[float | None] = []

    class Notes(ScriptedModel):
        def complete(
            self,
            messages: Sequence[Message],
            *,
            limits: Limits = DEFAULT_LIMITS,
            tools: Sequence[Mapping[str, Any]] = (),
        ) -> Completion:
            temperatures.append(limits.temperature)
            return super().complete(messages, limits=limits)

    asked = crowd("", "", "")
    asked.scripted["a"] = Notes("a", list("1234"))
    SelfMoA(crew=asked.crew, model="a", samples=2, temperature=0.5).answer(QUERY)
    assert temperatures == [0.5, 0.5, None]


def test_a_cascade_stops_at_the_first_confident_answer() -> None:
    asked = crowd(reply("1", 0.5), reply("2", 0.95), reply("3", 1.0))
    answer = Cascade(crew=asked.crew, order=NAMES).answer(QUERY)
    assert (answer.text, answer.route.exit) == ("2", "posterior")
    assert asked.called == {"a": 1, "b": 1}
    assert answer.route.latency_s == 2.0


def test_a_cascade_stops_where_two_answers_agree() -> None:
    asked = crowd(reply("1"), reply("1.0"), reply("3"))
    answer = Cascade(crew=asked.crew, order=NAMES).answer(QUERY)
    assert (answer.text, answer.route.exit) == ("1.0", "unanimity")
    assert asked.called == {"a": 1, "b": 1}


def test_a_cascade_that_trusts_nobody_ends_with_the_dearest_that_answers() -> None:
    asked = Crowd(
        {"a": One(says=reply("1", 1.0)), "b": One(says=reply("2", 1.0)), "c": One(fails=DOWN)}
    )
    answer = Cascade(crew=asked.crew, order=NAMES, confident_from=None).answer(QUERY)
    assert (answer.text, answer.route.exit) == ("2", "last layer")
    asked_of = [call for model in asked.scripted.values() for call in model.calls]
    assert not any("score" in call[0].content for call in asked_of)


def test_a_cascade_may_ask_more_of_a_model_that_always_trusts_itself() -> None:
    asked = crowd(reply("1", 0.95), reply("2", 0.95), "")
    method = Cascade(crew=asked.crew, order=NAMES, least_confident={"a": 0.99})
    assert method.answer(QUERY).text == "2"


def test_cheap_to_dear_goes_by_price() -> None:
    asked = Crowd({"x": One(usd=3.0), "y": One(usd=1.0), "z": One(usd=2.0)})
    assert cheap_to_dear(asked.roster) == ("y", "z", "x")


def test_an_oracle_asks_the_cheapest_model_that_is_right() -> None:
    asked = Crowd(
        {"x": One(says="right", usd=3.0), "y": One(says="wrong", usd=1.0),
         "z": One(says="right", usd=2.0)}
    )  # fmt: skip
    oracle = Oracle(crew=asked.crew, is_right=lambda query, model: model in "xz")
    assert oracle.answer(QUERY).text == "right"
    assert asked.called == {"z": 1}


def test_methods_share_the_limits_of_their_crew() -> None:
    asked = crowd("x" * 400, "", "")
    crew: Crew = asked.crew
    limited = Crew(roster=crew.roster, models=crew.models, limits=Limits(max_tokens=10))
    assert BestSingle(crew=limited, order=("a",)).answer(QUERY).text == "x" * 40
