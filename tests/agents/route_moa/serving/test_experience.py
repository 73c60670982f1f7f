"""What a server learns from the answers that it gives, and what it does with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.agents.route_moa.serving.scripted_mixture import answer_of
from tests.agents.route_moa.serving.test_opening import entry_of

from cuda_gym.agents.route_moa.answers import Answer, Belief
from cuda_gym.agents.route_moa.layers import MixturePlan
from cuda_gym.agents.route_moa.posterior import AGREEMENT_ALONE
from cuda_gym.agents.route_moa.ranking import Budget, Preferences
from cuda_gym.agents.route_moa.roster import Roster
from cuda_gym.agents.route_moa.serving.experience import Experience
from cuda_gym.agents.route_moa.serving.opening import EqualScorer, opener_of
from cuda_gym.agents.route_moa.serving.request import ChatRequest
from cuda_gym.errors import BudgetExceeded
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Limits, Message, Usage

ONE_CALL = MixturePlan(width=1, max_layers=1)
ROSTER = Roster(tuple(entry_of(name, None) for name in ("small", "large")))


@dataclass
class Timed:
    """A model whose latency counts as measured."""

    name: str
    latency_s: float
    num_tokens: int = 50

    def complete(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS, tools: Any = ()
    ) -> Completion:
        usage = Usage(prompt_tokens=10, completion_tokens=self.num_tokens)
        return Completion(
            model=self.name, text=self.name, usage=usage, latency_s=self.latency_s, cost_usd=0.0
        )

    def stream(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[str | Completion]:
        yield self.complete(messages, limits=limits)


def who_answers(times: int, plan: MixturePlan, *, is_stream: bool = False, **seconds: float) -> str:
    """The models that answer so many requests, one after the other; the first is the cheapest."""
    models = {name: Timed(name, latency_s) for name, latency_s in seconds.items()}
    prices = {name: 1.0 + place for place, name in enumerate(models)}
    roster = Roster(tuple(entry_of(name, None, usd=usd) for name, usd in prices.items()))
    opener = opener_of(
        roster, models, EqualScorer(roster.names), weights=AGREEMENT_ALONE, plan=plan
    )
    said = []
    for _ in range(times):
        mixture = opener(ChatRequest(query="?", prompt="?"), threading.Event())
        if is_stream:
            *_, answer = mixture.stream("?")
            assert isinstance(answer, Answer)
        else:
            answer = mixture.answer("?")
        said.append(answer.text)
    return "".join(said)


@pytest.mark.parametrize("is_stream", [False, True])
def test_where_seconds_count_a_model_that_turns_out_slow_is_left_for_a_faster_one(
    is_stream: bool,
) -> None:
    plan = replace(ONE_CALL, preferences=Preferences(seconds=0.01))
    assert who_answers(5, plan, is_stream=is_stream, a=60.0, b=1.0) == "abbbb"
    assert who_answers(5, ONE_CALL, is_stream=is_stream, a=60.0, b=1.0) == "aaaaa"


def test_a_slow_answer_does_not_keep_all_later_requests_from_the_models() -> None:
    plan = replace(ONE_CALL, budget=Budget(seconds=8.0))
    assert who_answers(4, plan, a=7.9) == "aaaa"


def test_a_budget_that_nothing_fits_is_told_each_time() -> None:
    plan = replace(ONE_CALL, budget=Budget(seconds=0.01))
    for _ in range(2):
        with pytest.raises(BudgetExceeded, match="No model is expected to answer"):
            who_answers(1, plan, a=1.0)


def test_a_model_that_was_asked_often_is_no_longer_explored() -> None:
    plan = replace(ONE_CALL, preferences=Preferences(exploration=0.1))
    assert sorted(who_answers(6, plan, a=1.0, b=1.0, c=1.0)) == list("aabbcc")


def test_each_proposal_of_an_answer_counts_once() -> None:
    experience = Experience(ROSTER)
    before = {name: Belief(mean=0.5, weight=2.0) for name in ROSTER.names}
    assert experience.seen(before) == before
    experience.learn_from(answer_of("Paris"))
    assert {belief.weight for belief in experience.seen(before).values()} == {3.0}
    assert experience.roster["small"].speed.measured_calls == 1
    assert experience.completion_tokens == {"small": 251.5, "large": 252.5}
    assert experience.forget()
    assert (experience.seen(before), experience.roster) == (before, ROSTER)
    assert not experience.forget()
    assert experience.completion_tokens == {}


def test_a_latency_that_nobody_measured_changes_no_speed() -> None:
    answer = answer_of("Paris")
    (layer,) = answer.route.layers
    guessed = tuple(
        replace(one, completion=replace(one.completion, estimated=("latency_s",)))
        for one in layer.proposals
    )
    route = replace(answer.route, layers=(replace(layer, proposals=guessed),))
    experience = Experience(ROSTER)
    experience.learn_from(replace(answer, route=route))
    assert experience.roster is ROSTER
    assert set(experience.completion_tokens) == {"small", "large"}
