"""A mixture where a single model could stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.agents.route_moa.crews import DOWN, Crowd, One

from cuda_gym.agents.route_moa.answers import Belief, NoAnswer
from cuda_gym.agents.route_moa.layers import Mixture, MixturePlan
from cuda_gym.agents.route_moa.mixture_model import MixtureModel
from cuda_gym.agents.route_moa.posterior import PosteriorWeights
from cuda_gym.agents.route_moa.ranking import Budget
from cuda_gym.errors import BudgetExceeded, ModelRefused, ModelUnavailable
from cuda_gym.models.budget import Budgeted
from cuda_gym.models.model import Completion, Limits, Message, Model
from cuda_gym.models.scripted import ScriptedModel

TASK = Message(role="user", content="Write a softmax kernel.")
REPAIR = (
    TASK,
    Message(role="assistant", content="__global__ void softmax() {"),
    Message(role="user", content="error: expected a }"),
)
PLAN = MixturePlan(width=2, max_layers=1)
WEIGHTS = PosteriorWeights(agreement=1.0)


def model_of(
    crowd: Crowd, plan: MixturePlan = PLAN, scorer: Any = None, **how: Any
) -> MixtureModel:
    mixture = Mixture(crowd.roster, crowd.scripted, scorer or crowd, weights=WEIGHTS, plan=plan)
    return MixtureModel(mixture, **how)


def differing(**more: One) -> Crowd:
    return Crowd({name: One(says=[name, f"all in all {name}"] * 9) for name in "ab"} | more)


def ask(model: Model, *messages: Message, **limits: Any) -> Completion:
    """As whoever takes a Model does."""
    return model.complete(messages or (TASK,), limits=Limits(**limits))


def test_an_answer_has_the_tokens_the_seconds_and_the_cost_of_all_its_calls() -> None:
    crowd = differing()
    found = ask(model_of(crowd))
    assert (found.model, found.text, found.finish_reason) == ("routemoa", "all in all a", "stop")
    calls = [crowd.scripted[name].calls for name in "ab"]
    assert [len(one) for one in calls] == [2, 1]
    prompts = sum(sum(len(m.content) for m in call) for one in calls for call in one)
    assert found.usage.prompt_tokens == pytest.approx(prompts / 4, abs=3)
    assert found.cost_usd == pytest.approx(
        (found.usage.prompt_tokens + found.usage.completion_tokens) / 1e6
    )
    assert found.latency_s == pytest.approx(2.0, abs=0.3)
    assert found.estimated == ("latency_s", "usage")


def test_in_pieces_it_is_the_same() -> None:
    *pieces, last = model_of(differing()).stream([TASK])
    assert isinstance(last, Completion)
    assert len(pieces) > 2
    assert "".join(map(str, pieces)) == last.text == ask(model_of(differing())).text
    assert last.usage == ask(model_of(differing())).usage


def test_the_whole_conversation_is_read_and_its_last_message_or_what_is_said_is_routed_by() -> None:
    scored: list[str] = []

    class Listening:
        def score(self, query: str) -> Mapping[str, Belief]:
            scored.append(query)
            return {}

    def first(messages: Sequence[Message]) -> str:
        return messages[0].content

    crowd = differing()
    ask(model_of(crowd, scorer=Listening()), *REPAIR)
    ask(model_of(crowd, scorer=Listening(), topic_of=first), *REPAIR)
    assert scored == [REPAIR[-1].content, TASK.content]
    read = crowd.scripted["a"].calls[0][-1].content
    assert all(message.content in read for message in REPAIR)


def test_the_limits_of_a_call_hold_within_those_of_the_plan() -> None:
    wordy = Crowd({"a": One(says="word " * 200)})
    assert ask(model_of(wordy), max_tokens=5).usage.completion_tokens == 5
    assert ask(model_of(wordy), max_tokens=5).finish_reason == "length"
    plan = MixturePlan(limits=Limits(max_tokens=7))
    assert ask(model_of(wordy, plan), max_tokens=50).usage.completion_tokens == 7


def test_its_seconds_are_those_of_the_whole_answer() -> None:
    slow = {name: One(says=name, latency_s=2.0) for name in "ab"}
    assert ask(model_of(Crowd(slow)), timeout_s=3.0).latency_s < 3.1  # no aggregator fits
    assert ask(model_of(Crowd(slow)), timeout_s=9.0).latency_s > 3.9
    with pytest.raises(BudgetExceeded, match="No model is expected to answer"):
        ask(model_of(Crowd(slow)), timeout_s=1.0)
    plan = MixturePlan(width=2, max_layers=1, budget=Budget(seconds=1.0))
    with pytest.raises(BudgetExceeded):
        ask(model_of(Crowd(slow), plan))


def test_what_was_spent_in_vain_is_told() -> None:
    with pytest.raises(NoAnswer, match="nobody is there") as caught:
        ask(model_of(Crowd({name: One(fails=DOWN) for name in "ab"})))
    assert isinstance(caught.value, ModelUnavailable)
    assert caught.value.usage == caught.value.bill.total.usage


def test_of_figures_that_the_aggregator_alone_estimated_it_says_so() -> None:
    class Counts(ScriptedModel):
        def complete(self, *args: Any, **how: Any) -> Completion:
            completion = super().complete(*args, **how)
            return replace(completion, estimated=() if len(self.calls) == 1 else ("usage",))

    crowd = differing()
    crowd.scripted |= {name: Counts(name, [name, "all in all"]) for name in "ab"}
    assert ask(model_of(crowd)).estimated == ("usage",)


def test_tools_and_empty_conversations_are_refused() -> None:
    model = model_of(differing())
    with pytest.raises(ModelRefused, match="calls no tools; it was given 1"):
        model.complete([TASK], tools=[{"type": "function"}])
    with pytest.raises(ModelRefused, match="no message"):
        model.complete([])
    with pytest.raises(BudgetExceeded, match="0 tokens"):
        ask(model, max_tokens=0)


def test_a_budget_of_tokens_counts_all_calls_and_a_mixture_may_be_part_of_another() -> None:
    inner = Budgeted(model_of(differing(), name="inner"), tokens=100_000)
    outer = Crowd({"inner": One(says="")})
    mixture = Mixture(
        outer.roster, {"inner": inner}, outer, weights=WEIGHTS, plan=MixturePlan(width=1)
    )
    answer = mixture.answer("What is six times seven?")
    assert answer.text == "all in all a"
    assert inner.spent.usage == answer.route.bill.by_model["inner"].usage
    assert inner.spent.tokens > 200
