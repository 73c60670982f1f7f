"""Threads of calls: none outlives its answer, whatever became of the answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from tests.agents.route_moa.crews import DOWN, QUERY, Crowd, One
from tests.agents.route_moa.test_calls import Canned, ask
from tests.models.openai_server import Reply, Request, says, serve

from cuda_gym.agents.route_moa.answers import NoAnswer
from cuda_gym.agents.route_moa.layers import Mixture, MixturePlan
from cuda_gym.agents.route_moa.mixture_model import MixtureModel
from cuda_gym.agents.route_moa.posterior import AGREEMENT_ALONE
from cuda_gym.agents.route_moa.serving.stoppable import Stoppable
from cuda_gym.models.model import Completion, Limits, Message, Model, Prices
from cuda_gym.models.openai import OpenAIModel

PRICES = Prices(input_usd_per_million=1.0, output_usd_per_million=2.0)


class Unpunctual:
    """Another model, which is not told how long its call may take."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self._model = model

    def complete(self, messages: Sequence[Message], **how: Any) -> Completion:
        return self._model.complete(messages, limits=Limits(timeout_s=60.0))

    def stream(self, messages: Sequence[Message], **how: Any) -> Iterator[str | Completion]:
        return self._model.stream(messages, limits=Limits(timeout_s=60.0))


def stoppable(model: Model) -> Model:
    return Stoppable(model, threading.Event())


def mixed(model: Model) -> Model:
    crowd = Crowd({model.name: One()})
    mixture = Mixture(crowd.roster, {model.name: model}, crowd, weights=AGREEMENT_ALONE)
    return MixtureModel(mixture, name=model.name)


def alive(since: set[threading.Thread]) -> list[str]:
    """Names of the threads that are left; those that were told to end have a moment for it."""
    end = time.monotonic() + 5.0
    while (left := set(threading.enumerate()) - since) and time.monotonic() < end:
        if all("process_request" in one.name for one in left):  # the test's own server
            break
        time.sleep(0.005)
    return [one.name for one in left if "process_request" not in one.name]


def test_no_thread_is_left_when_an_answer_is_there_or_there_is_none() -> None:
    crowds = {
        "answers": Crowd({name: One(says=name) for name in "abc"}),
        "fails": Crowd({name: One(fails=DOWN) for name in "abc"}),
        "is late": Crowd({name: One(latency_s=99.0) for name in "abc"}),
    }
    before = threading.active_count()
    for what, crowd in crowds.items():
        mixture = crowd.mixture(MixturePlan(max_layers=2, limits=Limits(timeout_s=50.0)))
        if what == "answers":
            assert mixture.answer(QUERY).text
            assert list(mixture.stream(QUERY))
        else:
            with pytest.raises(NoAnswer):
                mixture.answer(QUERY)
            with pytest.raises(NoAnswer):
                list(mixture.stream(QUERY))
        assert threading.active_count() == before, what


@pytest.mark.parametrize("inside", [Unpunctual, lambda one: Unpunctual(stoppable(one)),
                                    lambda one: Unpunctual(mixed(one))],
                         ids=["an endpoint", "one that can be stopped", "one of a mixture"])  # fmt: skip
def test_a_call_that_is_left_behind_ends_with_its_connection(
    inside: Callable[[Model], Model],
) -> None:
    with serve([says("too late", after_s=60.0)]) as (base_url, _):
        endpoint = OpenAIModel("late", base_url, None, PRICES)
        before = set(threading.enumerate())
        called = ask([inside(endpoint), Canned("b", latency_s=0.0)], 1, timeout_s=0.15)
        assert alive(before) == []
        endpoint.close()
    assert "did not end either" in called.failed["late"]
    assert [one.model for one in called.completions] == ["b"]


def test_a_stream_that_nobody_reads_on_ends_with_its_connection() -> None:
    def one(request: Request) -> Reply:
        return says("so on and on", pieces=2, between_s=0.3 if request.is_stream else 0.0)

    with serve(one) as (base_url, _), serve([says("Nice")]) as (other_url, _):
        endpoints = {
            name: OpenAIModel(name, url, None, PRICES)
            for name, url in {"on": base_url, "other": other_url}.items()
        }
        crowd = Crowd({name: One(prior=prior) for name, prior in {"on": 0.9, "other": 0.5}.items()})
        plan = MixturePlan(max_layers=1, exit_posterior=1.0)
        mixture = Mixture(crowd.roster, endpoints, crowd, weights=AGREEMENT_ALONE, plan=plan)
        before = set(threading.enumerate())
        pieces = mixture.stream(QUERY)
        assert next(pieces) == "so on "
        assert "route_moa streams on" in {one.name for one in threading.enumerate()}
        getattr(pieces, "close")()  # noqa: B009
        assert alive(before) == []
        for endpoint in endpoints.values():
            endpoint.close()


def test_an_error_that_ends_a_layer_ends_its_other_calls() -> None:
    class Broken(Canned):
        def complete(self, *args: Any, **kwargs: Any) -> Completion:
            while not requests:
                time.sleep(0.005)
            raise ZeroDivisionError

    with serve([says("too late", after_s=60.0)]) as (base_url, requests):
        endpoint = OpenAIModel("late", base_url, None, PRICES)
        before = set(threading.enumerate())
        with pytest.raises(ZeroDivisionError):
            ask([endpoint, Broken("b")], 2)
        assert alive(before) == []
        endpoint.close()


def test_a_model_that_hangs_keeps_no_program_from_ending_and_no_place_from_others() -> None:
    end = threading.Event()

    class Hangs(Canned):
        def complete(self, *args: Any, **kwargs: Any) -> Completion:
            end.wait(30)
            return super().complete(*args, **kwargs)

    for _ in range(2):
        called = ask([Hangs("hung"), Canned("b", latency_s=0.0)], 1, timeout_s=0.01)
        assert [one.model for one in called.completions] == ["b"]
    hung = [one for one in threading.enumerate() if one.name == "route_moa asks hung"]
    assert [one.daemon for one in hung] == [True] * 2
    end.set()
    for one in hung:
        one.join(5)
