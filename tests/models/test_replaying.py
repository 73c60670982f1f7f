from __future__ import annotations

from collections.abc import Sequence

import pytest

from cuda_gym.errors import ModelRefused, ModelUnavailable
from cuda_gym.models.model import Completion, Limits, Message, Prices, Usage
from cuda_gym.models.replaying import Recorded, ReplayingModel

PRICES = Prices(input_usd_per_million=1.0, output_usd_per_million=2.0)


def replay(**records: Recorded) -> ReplayingModel:
    def key(messages: Sequence[Message]) -> str:
        return messages[-1].content

    return ReplayingModel(
        "parrot", records, key=key, prices=PRICES, first_token_s=0.5, tokens_per_s=10.0
    )


def ask(question: str) -> list[Message]:
    return [Message(role="user", content=question)]


def test_what_was_recorded_is_given_as_it_was() -> None:
    recorded = Recorded(text="B", prompt_tokens=90, completion_tokens=30, latency_s=1.25)
    completion = replay(capital=recorded).complete(ask("capital"))
    assert completion == Completion(
        model="parrot",
        text="B",
        usage=Usage(prompt_tokens=90, completion_tokens=30),
        latency_s=1.25,
        cost_usd=150 / 1e6,
    )


@pytest.mark.parametrize(
    ("recorded", "estimated"),
    [
        (Recorded(text="Paris"), ("usage", "latency_s")),
        (Recorded(text="Paris", completion_tokens=2), ("usage", "latency_s")),
        (Recorded(text="Paris", prompt_tokens=2, completion_tokens=2), ("latency_s",)),
        (
            Recorded(
                text="P", prompt_tokens=2, completion_tokens=2, latency_s=0.7, is_estimated=True
            ),
            ("usage",),
        ),
    ],
)
def test_what_was_not_recorded_is_estimated_and_said_to_be(
    recorded: Recorded, estimated: tuple[str, ...]
) -> None:
    completion = replay(capital=recorded).complete(ask("capital"))
    assert completion.estimated == estimated
    assert completion.usage == Usage(prompt_tokens=2, completion_tokens=2) or (
        completion.usage.prompt_tokens == 2
    )
    assert completion.latency_s == pytest.approx(0.7)


def test_a_question_without_a_record_is_refused_and_not_wrong() -> None:
    with pytest.raises(ModelRefused, match="no record of 'parrot' for 'other'"):
        replay(capital=Recorded(text="B")).complete(ask("other"))


def test_a_modelled_latency_beyond_the_limits_is_no_answer() -> None:
    model = replay(capital=Recorded(text="B", completion_tokens=100))
    with pytest.raises(ModelUnavailable, match=r"10\.5 s"):
        model.complete(ask("capital"), limits=Limits(timeout_s=10.0))


def test_a_stream_ends_with_what_complete_gives() -> None:
    model = replay(capital=Recorded(text="It is B"))
    *pieces, completion = model.stream(ask("capital"))
    assert "".join(map(str, pieces)) == "It is B"
    assert completion == model.complete(ask("capital"))
