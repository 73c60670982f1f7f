from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from cuda_gym.errors import ModelRefused, ModelUnavailable
from cuda_gym.models.model import Completion, Limits, Message, Prices, Usage
from cuda_gym.models.scripted import ScriptedModel

QUESTION = [Message(role="user", content="What is 6 times 7?")]
PRICES = Prices(input_usd_per_million=1.0, output_usd_per_million=2.0)


def test_it_says_its_answers_in_turn_and_then_says_that_there_are_no_more() -> None:
    model = ScriptedModel("script", ["one", "two"])
    assert [model.complete(QUESTION).text for _ in range(2)] == ["one", "two"]
    with pytest.raises(ModelRefused, match="has 2 answers, and this is call 3"):
        model.complete(QUESTION)


def test_it_counts_four_characters_as_a_token_and_says_that_this_is_an_estimate() -> None:
    completion = ScriptedModel("script", ["forty-two"], prices=PRICES).complete(QUESTION)
    assert completion.usage == Usage(prompt_tokens=5, completion_tokens=3)
    assert completion.cost_usd == pytest.approx((5 * 1.0 + 3 * 2.0) / 1e6)
    assert completion.estimated == ("usage", "latency_s")


def test_calls_fail_in_turn_and_a_call_that_fails_takes_no_answer() -> None:
    model = ScriptedModel("script", ["one", "two"], fails=[None, ModelUnavailable("down")])
    assert model.complete(QUESTION).text == "one"
    with pytest.raises(ModelUnavailable, match="down"):
        model.complete(QUESTION)
    assert model.complete(QUESTION).text == "two"
    assert model.calls == (tuple(QUESTION),) * 3


def test_a_long_answer_is_cut_where_the_limits_end() -> None:
    completion = ScriptedModel("script", ["x" * 100]).complete(
        QUESTION, limits=Limits(max_tokens=10)
    )
    assert completion.text == "x" * 40
    assert completion.finish_reason == "length"
    assert completion.is_cut


@pytest.mark.parametrize("reason", ["length", "max_tokens", "stop", "tool_calls", "eos"])
def test_a_completion_is_cut_where_its_server_says_so_in_its_own_words(reason: str) -> None:
    completion = ScriptedModel("script", ["x"]).complete(QUESTION)
    assert replace(completion, finish_reason=reason).is_cut == (reason in ("length", "max_tokens"))


def test_its_latency_is_told_and_not_spent_unless_asked_for() -> None:
    def scripted(text: str, *, sleeps: bool = False) -> ScriptedModel:
        return ScriptedModel("script", [text], first_token_s=0.1, tokens_per_s=10.0, sleeps=sleeps)

    began = time.monotonic()
    assert scripted("x" * 40).complete(QUESTION).latency_s == 1.1
    assert time.monotonic() - began < 0.5
    began = time.monotonic()
    scripted("x" * 4, sleeps=True).complete(QUESTION)
    assert time.monotonic() - began >= 0.2


def test_an_answer_that_takes_longer_than_the_limits_allow_is_none() -> None:
    model = ScriptedModel("script", ["x" * 40], tokens_per_s=1.0)
    with pytest.raises(ModelUnavailable, match="needs 10 s"):
        model.complete(QUESTION, limits=Limits(timeout_s=9.0))


def test_a_stream_gives_words_then_the_completion() -> None:
    *pieces, completion = ScriptedModel("script", ["it is  42"]).stream(QUESTION)
    assert pieces == ["it", " is", " ", " 42"]
    assert isinstance(completion, Completion)
    assert completion.text == "it is  42"


def test_threads_share_its_turns() -> None:
    model = ScriptedModel("script", [str(number) for number in range(200)])
    with ThreadPoolExecutor(8) as pool:
        texts = pool.map(lambda _: model.complete(QUESTION).text, range(200))
    assert sorted(map(int, texts)) == list(range(200))


def test_one_text_is_no_sequence_of_answers() -> None:
    with pytest.raises(TypeError, match=r"\['forty'\]"):
        ScriptedModel("script", "forty")
