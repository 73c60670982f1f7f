from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from cuda_gym.errors import BudgetExceeded, ModelUnavailable
from cuda_gym.models.budget import Budgeted, Spent
from cuda_gym.models.model import Limits, Message, Prices, Usage
from cuda_gym.models.scripted import ScriptedModel

PROMPT = [Message(role="user", content="x" * 400)]  # 100 tokens
PRICES = Prices(input_usd_per_million=1.0, output_usd_per_million=2.0)


def scripted(characters: int = 400, **how: float) -> ScriptedModel:
    return ScriptedModel("script", lambda _: "y" * characters, prices=PRICES, **how)  # type: ignore[arg-type]


def test_what_calls_took_is_added_up() -> None:
    model = Budgeted(scripted(first_token_s=2.0), usd=1.0)
    assert [model.complete(PROMPT).text for _ in range(3)] == ["y" * 400] * 3
    spent = model.spent
    assert spent.usage == Usage(prompt_tokens=300, completion_tokens=300)
    assert (spent.calls, spent.tokens, spent.seconds) == (3, 600, 6.0)
    assert spent.usd == pytest.approx(3 * 300 / 1e6)


@pytest.mark.parametrize(
    ("budget", "unit"),
    [({"usd": 101 / 1e6}, "usd="), ({"tokens": 100}, "tokens="), ({"seconds": 0.0}, "seconds=")],
)
def test_a_call_is_refused_before_it_is_made_where_the_least_of_it_is_too_much(
    budget: dict[str, float], unit: str
) -> None:
    inner = scripted()
    model = Budgeted(inner, **budget)  # type: ignore[arg-type]
    with pytest.raises(BudgetExceeded, match=unit):
        model.complete(PROMPT)
    with pytest.raises(BudgetExceeded, match=unit):
        next(iter(model.stream(PROMPT)))
    assert inner.calls == ()
    assert model.spent == Spent()


@pytest.mark.parametrize("budget", [{"usd": 140 / 1e6}, {"tokens": 120}])
def test_a_call_that_is_made_is_limited_to_what_is_left(budget: dict[str, float]) -> None:
    completion = Budgeted(scripted(), **budget).complete(PROMPT)  # type: ignore[arg-type]
    assert completion.usage.completion_tokens == 20
    assert completion.finish_reason == "length"


def test_seconds_that_are_left_limit_a_call() -> None:
    model = Budgeted(scripted(first_token_s=2.0), seconds=3.0)
    model.complete(PROMPT)
    with pytest.raises(ModelUnavailable, match="allows 1"):
        model.complete(PROMPT)


def test_calls_side_by_side_keep_to_the_budget_together() -> None:
    tokens = 1_500
    model = Budgeted(scripted(), tokens=tokens)

    def ask(_: int) -> bool:
        try:
            model.complete(PROMPT, limits=Limits(max_tokens=100))
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        answered = sum(pool.map(ask, range(64)))
    assert 7 <= answered <= 8
    assert model.spent.tokens <= tokens


def test_what_a_call_under_way_may_take_is_not_there_for_others() -> None:
    is_asked, may_answer = threading.Event(), threading.Event()

    def answer(_: Sequence[Message]) -> str:
        is_asked.set()
        may_answer.wait(10.0)
        return "yes"

    model = Budgeted(ScriptedModel("slow", answer), tokens=250)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(model.complete, PROMPT, limits=Limits(max_tokens=100))
        assert is_asked.wait(10.0)
        with pytest.raises(BudgetExceeded, match="1 call under way"):
            model.complete(PROMPT)
        may_answer.set()
        first.result()
    assert model.complete(PROMPT).text == "yes"


def test_a_call_that_failed_counts_and_sets_nothing_aside_any_more() -> None:
    inner = ScriptedModel("script", lambda _: "yes", fails=[ModelUnavailable("down")])
    model = Budgeted(inner, tokens=101)
    with pytest.raises(ModelUnavailable):
        model.complete(PROMPT)
    assert model.spent.calls == 1
    assert model.spent.tokens == 0
    assert model.complete(PROMPT).usage.completion_tokens == 1


def test_what_a_failed_call_tells_to_have_used_counts() -> None:
    failed = ModelUnavailable("cut off")
    failed.usage = Usage(prompt_tokens=90, completion_tokens=5)
    inner = ScriptedModel("script", ["yes"], fails=[failed, failed], prices=PRICES)
    model = Budgeted(inner, usd=1.0)
    for ask in (model.complete, lambda messages: list(model.stream(messages))):
        with pytest.raises(ModelUnavailable):
            ask(PROMPT)
    assert model.spent.usage == failed.usage + failed.usage
    assert model.spent.usd == pytest.approx(2 * PRICES.cost_usd(failed.usage))
    assert model.spent.calls == 2


def test_a_stream_that_is_left_counts_what_arrived() -> None:
    model = Budgeted(ScriptedModel("script", ["one two three"], prices=PRICES), usd=1.0)
    pieces = model.stream(PROMPT)
    assert [next(pieces), next(pieces)] == ["one", " two"]
    pieces.close()  # type: ignore[attr-defined]
    assert model.spent.usage == Usage(prompt_tokens=100, completion_tokens=2)
    assert model.spent.usd == PRICES.cost_usd(model.spent.usage)


def test_a_whole_stream_counts_once() -> None:
    model = Budgeted(scripted(), usd=1.0)
    list(model.stream(PROMPT))
    assert model.spent.usage == Usage(prompt_tokens=100, completion_tokens=100)
    assert model.spent.calls == 1


def test_dollars_need_prices() -> None:
    class Unpriced:
        name = "unpriced"
        complete = ScriptedModel.complete
        stream = ScriptedModel.stream

    with pytest.raises(ValueError, match="tells no prices"):
        Budgeted(Unpriced(), usd=1.0)
    assert Budgeted(Unpriced(), usd=1.0, prices=PRICES).prices == PRICES
