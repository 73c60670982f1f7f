from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest
from tests.models.openai_server import says, serve

from cuda_gym.agents.route_moa.serving.stoppable import Stoppable
from cuda_gym.errors import ModelRefused, ModelUnavailable
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Limits, Message, Model, Prices
from cuda_gym.models.openai import OpenAIModel
from cuda_gym.models.scripted import ScriptedModel

PRICES = {"input_usd_per_million": 1.0, "output_usd_per_million": 2.0}
HELLO = (Message(role="user", content="Hello?"),)


class Endless(ScriptedModel):
    """Says something again and again, and knows when its stream was closed."""

    def __init__(self) -> None:
        super().__init__("endless", lambda messages: "never")
        self.was_closed = threading.Event()

    def stream(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[str | Completion]:
        try:
            while True:
                time.sleep(0.001)
                yield "and "
        finally:
            self.was_closed.set()


def test_until_it_is_stopped_it_is_the_other_model() -> None:
    model: Model = Stoppable(ScriptedModel("echo", ["one two", "three"]), threading.Event())
    assert model.name == "echo"
    *pieces, last = model.stream(HELLO)
    assert "".join(map(str, pieces)) == "one two"
    assert isinstance(last, Completion)
    assert model.complete(HELLO).text == "three"
    with pytest.raises(ModelRefused, match="script of 'echo'"):
        model.complete(HELLO)


def test_an_error_that_is_no_models_is_raised_where_the_answer_is_waited_for() -> None:
    broken = ScriptedModel("broken", lambda messages: str(1 // 0))
    with pytest.raises(ZeroDivisionError):
        Stoppable(broken, threading.Event()).complete(HELLO)
    with pytest.raises(ZeroDivisionError):
        list(Stoppable(broken, threading.Event()).stream(HELLO))


def test_a_stopped_model_is_not_called() -> None:
    stop, inner = threading.Event(), ScriptedModel("echo", ["never"])
    stop.set()
    with pytest.raises(ModelUnavailable, match="nobody waits"):
        Stoppable(inner, stop).complete(HELLO)
    assert not inner.calls


def test_whoever_waits_for_a_slow_call_is_free_at_once() -> None:
    stop, end = threading.Event(), threading.Event()
    slow = ScriptedModel("slow", lambda messages: str(end.wait(30)))
    threading.Timer(0.02, stop.set).start()
    with pytest.raises(ModelUnavailable, match="nobody waits"):
        Stoppable(slow, stop).complete(HELLO)
    assert not end.is_set()
    assert len(slow.calls) == 1
    end.set()


def test_a_stream_that_is_stopped_or_left_is_closed() -> None:
    for is_stopped in (False, True):
        stop, inner = threading.Event(), Endless()
        pieces = Stoppable(inner, stop).stream(HELLO)
        assert next(pieces) == "and "
        if is_stopped:
            stop.set()
            with pytest.raises(ModelUnavailable, match="nobody waits"):
                list(pieces)
        else:
            getattr(pieces, "close")()  # noqa: B009
        assert inner.was_closed.wait(5)


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_call_of_an_endpoint_ends_with_its_connection(is_stream: bool) -> None:
    def ask() -> None:
        with pytest.raises(ModelUnavailable, match="nobody waits"):
            list(model.stream(HELLO)) if is_stream else model.complete(HELLO)

    with serve([says("too late", after_s=60.0)]) as (base_url, requests):
        stop = threading.Event()
        inner = OpenAIModel("late", base_url, None, Prices(**PRICES))
        model = Stoppable(inner, stop)
        asking = threading.Thread(target=ask)
        asking.start()
        _wait_until(lambda: bool(requests))
        stop.set()
        asking.join(5)
        _wait_until(lambda: not _calls_under_way())
        inner.close()
    assert len(requests) == 1


def _calls_under_way() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name == "call of late"]


def _wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)
