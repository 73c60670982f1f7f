"""What simulated figures would be under other figures of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from benchmarks.routing_replay.encodings import KeptEncoder
from benchmarks.routing_replay.fitting import fitted, split
from benchmarks.routing_replay.loading import load_pool
from benchmarks.routing_replay.methods import Bench, Knobs
from benchmarks.routing_replay.names import MOA_1, MOA_3, PAPER
from benchmarks.routing_replay.replay import Extent
from benchmarks.routing_replay.simulation import Rules, replaying_models

from cuda_gym.agents.route_moa.encoders import SentenceEncoder

__all__ = ["sweep"]

_POOLS = ("mmlu_pro_5_small", "zeroeval_7_cheap")
_RULES = ((0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.5, 0.1), (0.5, 0.3))
_MOST_TEST = 400


def sweep(data: Path, kept: Path, extent: Extent, pools: Sequence[str]) -> list[dict[str, Any]]:
    """Accuracies of the methods that rest on simulation, for pairs of adoption and drift.

    Of the pools that are asked for, the small ones.
    """
    torch.set_num_threads(1)
    found = []
    for name in (name for name in _POOLS if name in pools):
        pool = load_pool(data, name)
        encoder = KeptEncoder(SentenceEncoder(), [one.text for one in pool.questions], kept)
        most = min(_MOST_TEST, extent.most_test or _MOST_TEST)
        parts = split(pool, 0, most_train=extent.most_train or 3_000, most_test=most)
        for adoption, drift in _RULES:
            rules = Rules(adoption=adoption, drift=drift)
            bench = Bench(pool=pool, models=dict(replaying_models(pool, rules)))
            fit = fitted(pool, parts, bench.models, encoder, seed=0, most_records=300)
            baselines = bench.baselines(fit)
            runs = {
                title: bench.run(baselines[title][0], parts.test)
                for title in ("static best 3, aggregator", MOA_1, MOA_3, "sparse MoA, keeps 3")
            }
            paper = Knobs(max_layers=3, exit_posterior=0.9, with_scores=True)
            runs[PAPER] = bench.run(bench.mixture(fit, paper), parts.test)
            found.append(
                {
                    "pool": name,
                    "adoption": adoption,
                    "drift": drift,
                    "accuracy": {title: run.accuracy for title, run in runs.items()},
                }
            )
    return found
