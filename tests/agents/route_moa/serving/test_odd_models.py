"""Models that do not do as they are asked, behind the real server: an answer comes, and the bill is what was called."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from tests.agents.route_moa.serving.scripted_mixture import client_of, serving
from tests.agents.route_moa.serving.test_opening import QUESTION, entry_of, reply
from tests.models.openai_server import Request, says, serve

from cuda_gym.agents.route_moa.layers import MixturePlan
from cuda_gym.agents.route_moa.posterior import AGREEMENT_ALONE
from cuda_gym.agents.route_moa.roster import Roster
from cuda_gym.agents.route_moa.serving.opening import EqualScorer, endpoints_of, opener_of

SCORES_COUNT = replace(AGREEMENT_ALONE, self_score=1.0, peer_score=1.0)


@pytest.mark.parametrize(
    ("said", "is_stream"),
    [
        ("It is Paris, I think.", False),
        ('{"answer": "Paris", "self_score": 7}', False),
        ('{"answer": "Paris", "self_score": NaN}', True),
        ('{"answer": ["Paris"], "self_score": "high", "peer_scores": [9]}', False),
        ('{"answer": "Paris", "self_score"', True),
        ("", False),
    ],
)
def test_an_odd_reply_is_answered_without_a_score_of_it_and_billed_to_the_token(
    said: str, is_stream: bool
) -> None:
    def sane(request: Request) -> Any:
        return says("It is Lyon." if request.is_stream else reply("Lyon"))

    with ExitStack() as stack:
        served = [stack.enter_context(serve(script)) for script in ([says(said)], sane)]
        roster = Roster(
            tuple(entry_of(f"model-{i}", at.base_url, usd=1.0 + i) for i, at in enumerate(served))
        )
        models = endpoints_of(roster)
        for model in models.values():
            stack.callback(model.close)
        plan = MixturePlan(width=2, max_layers=2)
        scorer = EqualScorer(roster.names)
        opener = opener_of(roster, models, scorer, weights=SCORES_COUNT, plan=plan)
        client = stack.enter_context(client_of(stack.enter_context(serving(opener))))
        got: Any = client.chat.completions.create(
            model="routemoa", messages=QUESTION, stream=is_stream
        )
        pieces = list(got) if is_stream else []
    end = pieces[-1] if is_stream else got
    texts = [piece.choices[0].delta.content or "" for piece in pieces]
    assert "".join(texts) if is_stream else got.choices[0].message.content
    told = [one for layer in end.route["layers"] for one in layer["proposals"]]
    assert {one["self_score"] for one in told if one["model"] == "model-0"} <= {None}
    assert 0.9 in {one["self_score"] for one in told}
    calls = [len(at.requests) for at in served]
    lines = [line["model"] for line in end.bill["lines"]]
    assert [lines.count(f"model-{number}") for number in range(2)] == calls
    assert calls[0] >= 1
    assert end.bill["cost_usd"] == pytest.approx((18 * calls[0] + 18 * 2 * calls[1]) / 1e6)
