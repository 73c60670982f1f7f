"""A pool of made-up answers to made-up questions."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.routing_replay.loading import Pool, Question, Recording

from cuda_gym.agents.route_moa.roster import Roster, RosterEntry, Speed
from cuda_gym.models.model import Prices

MODELS = ("good", "fair", "poor")
SAID = {"good": "AAAB", "fair": "ABAA", "poor": "BBA-"}
"""Of four questions, all with the right answer A; - is nothing."""


def pool(repeats: int = 1, by_model: Mapping[str, str] = SAID) -> Pool:
    questions = tuple(
        Question(id=str(number), text=f"Question {number}?", category="letters")
        for number in range(4 * repeats)
    )
    recordings = {
        model: {
            question.id: Recording(
                answer=None if said == "-" else said, score=float(said == "A"), output_chars=200
            )
            for question, said in zip(questions, by_model[model] * repeats, strict=True)
        }
        for model in by_model
    }
    entries = tuple(
        RosterEntry(
            name=name,
            prices=Prices(input_usd_per_million=1.0, output_usd_per_million=2.0),
            speed=Speed(first_token_s=0.5, tokens_per_s=50.0),
            context_tokens=16_384,
        )
        for name in by_model
    )
    return Pool(name="letters", questions=questions, recordings=recordings, roster=Roster(entries))
