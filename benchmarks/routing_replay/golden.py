"""Figures that need no replay: how fast 100 models are ranked, and whether recorded costs are billed exactly."""

from __future__ import annotations

import gzip
import json
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.routing_replay.encodings import KeptEncoder
from benchmarks.routing_replay.loading import ROUTER, load_pool

from cuda_gym.agents.route_moa.bill import Bill, BillLine
from cuda_gym.agents.route_moa.encoders import SentenceEncoder
from cuda_gym.agents.route_moa.ranking import Expected, Preferences, choose_layer, rank
from cuda_gym.agents.route_moa.roster import Roster
from cuda_gym.agents.route_moa.scorer import LearnedScorer
from cuda_gym.models.model import Prices, Usage

__all__ = ["billing", "decision"]

_QUERY = "A train leaves at 9:40 and arrives at 13:05. How many minutes does it travel?"
_LONG_QUERY = "train " * 254
"""256 tokens, with the first and the last of every text."""


def billing(data: Path) -> dict[str, Any]:
    """Recorded costs, made anew from recorded tokens and prices; exact means but for the last bit of a sum."""
    with gzip.open(data / "routemoa_recorded.json.gz", "rt", encoding="utf-8") as file:
        recorded = json.load(file)
    prices = {
        name: Prices(input_usd_per_million=usd["input"], output_usd_per_million=usd["output"])
        for name, usd in recorded["prices_usd_per_million_tokens"].items()
    }
    rows = [row for method in recorded["methods"].values() for row in method]
    exact, worst = 0, 0.0
    for row in rows:
        lines = tuple(
            BillLine(
                model=name,
                billed_for="proposer",
                usage=(usage := Usage(**tokens)),
                cost_usd=prices[name].cost_usd(usage),
            )
            for name, tokens in row["token_usage"].items()
        )
        cost = Bill(lines=lines).cost_usd
        exact += math.isclose(cost, row["cost_usd"], rel_tol=1e-15)
        worst = max(worst, abs(cost - row["cost_usd"]) / max(row["cost_usd"], 1e-12))
    return {"rows": len(rows), "exact": exact, "worst": worst}


def decision(data: Path, kept: Path, *, num_models: int = 100) -> dict[str, float]:
    """Milliseconds from a query to the models of the first layer, and of encoding alone.

    The fastest of 50, for others may share the machine, and the median.
    """
    pool = load_pool(data, "zeroeval_7_cheap")
    questions = pool.questions[:600]
    sentences = SentenceEncoder()
    encoder = KeptEncoder(sentences, [question.text for question in pool.questions], kept)
    names = [f"model {number}" for number in range(num_models)]
    labels = pool.labels(questions)
    columns = [number % labels.shape[1] for number in range(num_models)]
    texts = [question.text for question in questions]
    scorer = LearnedScorer.fit(texts, labels[:, columns], names, encoder=encoder)
    entries = list(pool.roster)
    roster = Roster(
        tuple(
            replace(entries[column], name=name) for name, column in zip(names, columns, strict=True)
        ),
        router=ROUTER,
    )
    expected = {name: Expected(prompt_tokens=300.0, completion_tokens=200.0) for name in names}
    preferences = Preferences(usd=10.0, seconds=0.001)

    def decide() -> None:
        ranked = rank(scorer.score(_QUERY), roster, expected, preferences=preferences)
        choose_layer(ranked, 3, preferences, roster=roster)

    timed: dict[str, float] = {"models": num_models}
    for name, act in (
        ("all", decide),
        ("encoding", lambda: sentences.encode([_QUERY])),
        ("long_encoding", lambda: sentences.encode([_LONG_QUERY])),
    ):
        timed[f"{name}_ms"], timed[f"{name}_median_ms"] = _taken_ms(act)
    return timed


def _taken_ms(act: Callable[[], object], *, times: int = 50) -> tuple[float, float]:
    """The least and the median."""
    act()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        taken.append(1000 * (time.perf_counter() - started))
    return min(taken), statistics.median(taken)
