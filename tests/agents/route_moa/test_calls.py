from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from cuda_gym.agents.route_moa.answers import NoAnswer
from cuda_gym.agents.route_moa.bill import Bill, BillLine
from cuda_gym.agents.route_moa.calls import Called, call_side_by_side
from cuda_gym.agents.route_moa.ledger import Call, Ledger
from cuda_gym.agents.route_moa.prompts import Prompt, most_tokens
from cuda_gym.agents.route_moa.ranking import Budget
from cuda_gym.agents.route_moa.roster import Roster, RosterEntry, Speed
from cuda_gym.errors import ModelError, ModelUnavailable
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Limits, Message, Model, Prices, Usage
from cuda_gym.models.scripted import ScriptedModel

PRICES = Prices(input_usd_per_million=1.0, output_usd_per_million=10.0)


class Canned:
    """Says one thing, in so many modelled seconds, or fails."""

    def __init__(
        self,
        name: str,
        text: str = "42",
        *,
        error: ModelError | None = None,
        latency_s: float = 1.0,
        sleeps_s: float = 0.0,
        tokens: int = 100,
    ) -> None:
        self.name = name
        self.calls: list[Limits] = []
        self._text, self._error = text, error
        self._latency_s, self._sleeps_s, self._tokens = latency_s, sleeps_s, tokens

    def complete(
        self,
        messages: Sequence[Message],
        *,
        limits: Limits = DEFAULT_LIMITS,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Completion:
        self.calls.append(limits)
        time.sleep(self._sleeps_s)
        if self._error is not None:
            raise self._error
        usage = Usage(prompt_tokens=10, completion_tokens=min(self._tokens, limits.max_tokens))
        return Completion(
            model=self.name,
            text=self._text,
            usage=usage,
            latency_s=self._latency_s,
            cost_usd=PRICES.cost_usd(usage),
        )

    def stream(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[str | Completion]:
        yield self.complete(messages, limits=limits)


class Failure(ModelUnavailable):
    """One that knows what it used."""

    usage = Usage(prompt_tokens=10, completion_tokens=3)
    latency_s = 5.0


DOWN = ModelUnavailable("nobody is there")


def prompt(text: str) -> Prompt:
    messages = (Message(role="user", content=text),)
    return Prompt(messages=messages, shown=(), cut=(), tokens=most_tokens(text))


def ask(
    models: Sequence[Model],
    wanted: int,
    *,
    ledger: Ledger | None = None,
    timeout_s: float = 60.0,
    max_parallel: int | None = None,
) -> Called:
    entries = {
        model.name: RosterEntry(
            name=model.name,
            prices=PRICES,
            speed=Speed(first_token_s=0.0, tokens_per_s=100.0),
            context_tokens=8192,
            base_url="http://127.0.0.1/" if max_parallel else None,
            max_parallel=max_parallel,
        )
        for model in models
    }
    calls = [
        Call(
            model=model,
            entry=entries[model.name],
            prompt=prompt("a question of thirty letters."),
            expected_tokens=100,
            limits=Limits(timeout_s=timeout_s, max_tokens=1000),
        )
        for model in models
    ]
    roster = Roster(tuple(entries.values()))
    return call_side_by_side(
        calls, wanted=wanted, ledger=Ledger() if ledger is None else ledger, roster=roster
    )


def names(called: Called) -> list[str]:
    return [completion.model for completion in called.completions]


def test_answers_come_in_the_order_of_rank_whoever_is_first() -> None:
    assert names(ask([Canned("slow", sleeps_s=0.05), Canned("fast")], 2)) == ["slow", "fast"]


def test_calls_run_side_by_side() -> None:
    barrier = threading.Barrier(3, timeout=5.0)

    class Waits(Canned):
        def complete(self, *args: Any, **kwargs: Any) -> Completion:
            barrier.wait()
            return super().complete(*args, **kwargs)

    assert len(ask([Waits("a"), Waits("b"), Waits("c")], 3).completions) == 3


def test_no_more_models_are_called_than_answers_are_wanted() -> None:
    third = Canned("c")
    ask([Canned("a"), Canned("b"), third], 2)
    assert third.calls == []


def test_the_next_in_rank_takes_the_place_of_one_that_fails() -> None:
    called = ask([Canned("a", error=DOWN), Canned("b"), Canned("c"), Canned("d")], 2)
    assert names(called) == ["b", "c"]
    assert called.failed == {"a": "ModelUnavailable: nobody is there"}


@pytest.mark.parametrize(
    ("model", "why"),
    [(Canned("a", latency_s=61.0), "took 61.0 s of 60.0 s"), (Canned("a", " \n"), "said nothing")],
    ids=["late", "empty"],
)
def test_a_completion_that_is_late_or_empty_is_no_answer_and_is_billed_as_failed(
    model: Canned, why: str
) -> None:
    ledger = Ledger()
    called = ask([model, Canned("b")], 1, ledger=ledger)
    assert names(called) == ["b"]
    assert why in called.failed["a"]
    assert [line.billed_for for line in ledger.bill.lines] == ["failed", "proposer"]
    assert all(line.cost_usd == PRICES.cost_usd(line.usage) > 0 for line in ledger.bill.lines)


def test_a_model_that_does_not_end_is_left_behind_and_its_prompt_is_billed() -> None:
    ledger = Ledger()
    started = time.perf_counter()
    called = ask([Canned("hung", sleeps_s=1.0), Canned("b")], 1, ledger=ledger, timeout_s=0.1)
    assert time.perf_counter() - started < 0.9
    assert "did not end either" in called.failed["hung"]
    assert ledger.bill.lines[0].usage == Usage(prompt_tokens=10, completion_tokens=0)


def test_what_a_model_left_behind_may_have_cost_is_not_spent_again() -> None:
    ledger = Ledger(Budget(usd=1.0))
    ask([Canned("hung", sleeps_s=0.5)], 1, ledger=ledger, timeout_s=0.05)
    assert ledger.left.usd == pytest.approx(1.0 - (10 * 1.0 + 1000 * 10.0) / 1e6)


def test_what_a_call_that_was_cut_off_may_have_cost_is_not_spent_again() -> None:
    cut = ModelUnavailable("its time was over")
    cut.usage = Usage(prompt_tokens=10, completion_tokens=0)
    cut.may_have_used_more = True
    ledger = Ledger(Budget(usd=1.0))
    ask([Canned("cut", error=cut)], 1, ledger=ledger)
    assert ledger.bill.cost_usd == pytest.approx(10 * 1.0 / 1e6)
    assert ledger.left.usd == pytest.approx(1.0 - (10 * 1.0 + 1000 * 10.0) / 1e6)


def test_a_failed_call_is_billed_with_what_it_used() -> None:
    ledger = Ledger()
    ask([Canned("a", error=Failure("cut off")), Canned("b", error=DOWN)], 2, ledger=ledger)
    assert [line.usage.completion_tokens for line in ledger.bill.lines] == [3, 0]
    assert ledger.bill.cost_usd == PRICES.cost_usd(Failure.usage)


def test_latency_is_the_slowest_call_and_a_replacement_starts_when_the_other_failed() -> None:
    ledger = Ledger()
    models = [
        Canned("a", latency_s=2.0),
        Canned("b", error=Failure("cut off")),
        Canned("c", latency_s=1.5),
    ]
    assert ask(models, 2, ledger=ledger).latency_s == pytest.approx(5.0 + 1.5)
    assert ledger.elapsed_s == pytest.approx(6.5)


def test_a_model_whose_latency_is_modelled_takes_its_whole_time_before_it_is_late() -> None:
    slow = ScriptedModel("slow", ["42"], first_token_s=99.0)
    called = ask([slow, Canned("b", latency_s=1.0)], 1, timeout_s=60.0)
    assert called.latency_s == 61.0


def test_calls_queue_at_an_endpoint_that_takes_one_at_a_time() -> None:
    assert ask([Canned("a"), Canned("b"), Canned("c")], 3, max_parallel=1).latency_s == 3.0


def test_a_call_that_is_expected_not_to_fit_is_not_made() -> None:
    ledger = Ledger(Budget(usd=0.0015))  # one call is expected to cost 0.00101
    second = Canned("b")
    called = ask([Canned("a"), second], 2, ledger=ledger)
    assert names(called) == ["a"]
    assert called.too_dear == ("b",)
    assert second.calls == []


def test_models_that_write_far_more_than_expected_still_stay_in_the_budget() -> None:
    ledger = Ledger(Budget(usd=0.005))
    called = ask([Canned(name, tokens=1000) for name in "abc"], 3, ledger=ledger)
    assert len(called.completions) == 3
    assert 0.004 < ledger.bill.cost_usd <= 0.005


def test_what_a_failed_call_did_not_use_pays_for_the_one_in_its_place() -> None:
    ledger = Ledger(Budget(usd=0.0021))
    called = ask([Canned("a", error=DOWN), Canned("b"), Canned("c")], 2, ledger=ledger)
    assert names(called) == ["b", "c"]
    assert ledger.bill.cost_usd <= 0.0021


def test_no_call_is_given_more_time_than_is_left() -> None:
    model = Canned("a")
    ask([model], 1, ledger=Ledger(Budget(seconds=3.0)))
    assert model.calls[0].timeout_s == 3.0


def test_a_call_that_cannot_end_in_the_time_that_is_left_is_not_made() -> None:
    called = ask([Canned("a")], 1, ledger=Ledger(Budget(seconds=0.5)))  # 100 tokens at 100 a second
    assert called.too_dear == ("a",)
    assert called.completions == ()


def test_a_completion_may_be_as_long_as_the_context_leaves_room_for() -> None:
    entry = RosterEntry(
        name="a", prices=PRICES, speed=Speed(first_token_s=0.0, tokens_per_s=1.0), context_tokens=50
    )
    call = Call(model=Canned("a"), entry=entry, prompt=prompt("x" * 60), expected_tokens=10)
    assert call.within(None, None).max_tokens == 30


def test_an_error_that_is_no_models_is_raised() -> None:
    class Broken(Canned):
        def complete(self, *args: Any, **kwargs: Any) -> Completion:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask([Broken("a"), Canned("b")], 1)


def test_the_bill_of_no_answer_survives_a_trip_to_another_process() -> None:
    line = BillLine(
        model="a",
        billed_for="failed",
        usage=Usage(prompt_tokens=3, completion_tokens=0),
        cost_usd=0.5,
    )
    error = NoAnswer("nobody answered", Bill(lines=(line,)))
    error.latency_s = 2.5
    error.add_note("at noon")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.bill.cost_usd) == ("nobody answered", 0.5)
    assert vars(again) == vars(error)
