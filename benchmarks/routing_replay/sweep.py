"""What simulated figures would be under other figures of the rules.

Covered: how often models adopt what they read, how often an aggregator drifts, and how well scores tell right from
wrong, which is assumed and not measured anywhere: at 0.5 they tell nothing. Knobs and weights are chosen anew each time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.routing_replay.choosing import EQUAL, choose, papers_knobs, scored
from benchmarks.routing_replay.encodings import KeptEncoder
from benchmarks.routing_replay.fitting import Fitted, fitted, split, with_evidence
from benchmarks.routing_replay.loading import Pool, load_pool
from benchmarks.routing_replay.methods import Bench
from benchmarks.routing_replay.names import MOA_1, MOA_3, PAPER, RECORDED, STATIC
from benchmarks.routing_replay.outcomes import Run
from benchmarks.routing_replay.replay import Extent
from benchmarks.routing_replay.simulation import Rules, replaying_models

from cuda_gym.agents.route_moa.encoders import SentenceEncoder

__all__ = ["POOLS", "sweep"]

POOLS = ("mmlu_pro_5_small", "zeroeval_7_cheap")

_USUAL = Rules()
_READING = (
    _USUAL,
    *(Rules(adoption=adoption) for adoption in (0.0, 1.0)),
    *(Rules(drift=drift) for drift in (0.1, 0.3)),
)
_SCORES = (
    _USUAL,
    *(Rules(self_auc=auc) for auc in (0.5, 0.8)),
    Rules(peer_auc=0.5),
    Rules(self_auc=0.5, peer_auc=0.5),
)
_READERS = ("static best 3, aggregator", MOA_1, MOA_3, "sparse MoA, keeps 3")
_MOST_SEEDS, _MOST_TRAIN, _MOST_TEST, _MOST_TUNE, _MOST_RECORDS = 2, 3_000, 500, 150, 300

Runs = dict[str, Run]


def sweep(name: str, data: Path, kept: Path, extent: Extent) -> dict[str, Any]:
    """Accuracies and costs under each of some rules, of one pool."""
    torch.set_num_threads(1)
    started = time.monotonic()
    pool = load_pool(data, name)
    encoder = KeptEncoder(SentenceEncoder(), [one.text for one in pool.questions], kept)
    usual = Bench(pool=pool, models=dict(replaying_models(pool, _USUAL)))
    most_train = min(_MOST_TRAIN, extent.most_train or _MOST_TRAIN)
    most_test = min(_MOST_TEST, extent.most_test or _MOST_TEST)
    reading: dict[Rules, list[Runs]] = {rules: [] for rules in _READING}
    scores: dict[Rules, list[Runs]] = {rules: [] for rules in _SCORES}
    for seed in extent.seeds[:_MOST_SEEDS]:
        parts = split(pool, seed, most_train=most_train, most_test=most_test)
        fit = fitted(pool, parts, usual.models, encoder, seed=seed, most_records=_MOST_RECORDS)
        for rules, of_seeds in reading.items():
            of_seeds.append(_readers(pool, fit, rules))
        for rules, runs in _of_scores(usual, fit, min(_MOST_TUNE, extent.most_tune)).items():
            scores[rules].append(runs)
    return {
        "pool": name,
        "seeds": len(extent.seeds[:_MOST_SEEDS]),
        "questions": most_test,
        "reading": [_told(rules, of_seeds) for rules, of_seeds in reading.items()],
        "scores": [_told(rules, of_seeds) for rules, of_seeds in scores.items()],
        "seconds": round(time.monotonic() - started),
    }


def _readers(pool: Pool, fit: Fitted, rules: Rules) -> Runs:
    """Those whose models read other answers."""
    bench = Bench(pool=pool, models=dict(replaying_models(pool, rules)))
    baselines = bench.baselines(fit)
    paper = bench.mixture(fit, papers_knobs(len(pool.models)))
    test = fit.split.test
    return {title: bench.run(baselines[title][0], test) for title in _READERS} | {
        PAPER: bench.run(paper, test)
    }


def _of_scores(usual: Bench, fit: Fitted, most_tune: int) -> dict[Rules, Runs]:
    """Those that scores steer, beside those that have none."""
    pool, test = usual.pool, fit.split.test
    start = choose(usual, fit, most_tune=most_tune)
    method, _ = usual.baselines(fit)[STATIC]
    without = {
        STATIC: usual.run(method, test),
        RECORDED: usual.run(usual.mixture(fit, start.knobs[RECORDED]), test),
    }
    tune = fit.split.tune[:most_tune]
    most_usd = EQUAL * usual.run(method, tune).cost_usd
    found = {}
    for rules in _SCORES:
        bench = Bench(pool=pool, models=dict(replaying_models(pool, rules)))
        weighed = with_evidence(fit, pool, bench.models, most_records=_MOST_RECORDS)
        chosen = scored(bench, weighed, start.knobs[RECORDED], tune, most_usd=most_usd)
        found[rules] = without | {
            title: bench.run(bench.mixture(weighed, knobs), test)
            for title, (knobs, _) in chosen.items()
        }
    return found


def _told(rules: Rules, of_seeds: Sequence[Runs]) -> dict[str, Any]:
    return asdict(rules) | {
        "methods": {
            title: {
                "accuracy": float(np.mean([runs[title].accuracy for runs in of_seeds])),
                "usd_per_1000": 1000 * float(np.mean([runs[title].cost_usd for runs in of_seeds])),
            }
            for title in of_seeds[0]
        }
    }
