"""One pool, all seeds: fit, choose knobs, run every method, and say how they differ."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.routing_replay.choosing import EQUAL, choose
from benchmarks.routing_replay.encodings import KeptEncoder
from benchmarks.routing_replay.evidence import LIMITS
from benchmarks.routing_replay.fitting import Fitted, fitted, split
from benchmarks.routing_replay.loading import ROUTER, Pool, load_pool
from benchmarks.routing_replay.methods import PRICES, Bench, Knobs
from benchmarks.routing_replay.names import (
    ABOUT,
    ALL,
    COMPARED,
    MOA_1,
    MOA_3,
    ORACLE,
    PAPER,
    SIMULATED,
    SINGLE,
    STATIC,
    WITHIN,
    is_routed,
    within,
)
from benchmarks.routing_replay.outcomes import Run, summary
from benchmarks.routing_replay.simulation import Rules, replaying_models
from benchmarks.routing_replay.statistics import Difference, paired_difference

from cuda_gym.agents.route_moa.baselines import StaticBestK
from cuda_gym.agents.route_moa.calibration import calibration_error, hit_at
from cuda_gym.agents.route_moa.crew import Crew
from cuda_gym.agents.route_moa.encoders import SentenceEncoder
from cuda_gym.agents.route_moa.scorer import RidgeScorer

__all__ = ["Extent", "measured", "replay"]


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much is measured."""

    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    most_train: int | None = None
    most_test: int | None = None
    most_tune: int = 400
    """Questions on which a set of knobs is tried."""
    most_curve: int = 300
    """Test questions for each price of a dollar."""
    num_resamples: int = 2_000


def replay(
    name: str, data: Path, kept: Path, extent: Extent, rules: Rules, *, num_threads: int = 1
) -> dict[str, Any]:
    """Measure one pool; plain values, for JSON."""
    torch.set_num_threads(num_threads)
    start, cpu_start = time.monotonic(), time.process_time()
    pool = load_pool(data, name)
    sentences = SentenceEncoder()
    encoder = KeptEncoder(sentences, [question.text for question in pool.questions], kept)
    router_s = _encoding_s(sentences, [question.text for question in pool.questions[:40]])
    return measured(pool, encoder, extent, rules, router_s=router_s) | {
        "seconds": round(time.monotonic() - start),
        "cpu_seconds": round(time.process_time() - cpu_start),
    }


def measured(
    pool: Pool, encoder: KeptEncoder, extent: Extent, rules: Rules, *, router_s: float
) -> dict[str, Any]:
    """Every method on a pool, under every seed.

    Args:
        pool: The recorded answers.
        encoder: Of the scorer.
        extent: How much is measured.
        rules: Of what is not recorded.
        router_s: Of encoding a query: the replay takes encodings from a file.
    """
    replayed = _Replay(
        bench=Bench(pool=pool, models=dict(replaying_models(pool, rules))),
        encoder=encoder,
        extent=extent,
        runs={},
        scorers=[],
        chosen=[],
        curve={},
        statics=[],
        rivals={},
        left_out=[],
    )
    for seed in extent.seeds:
        replayed.seed(seed)
    return replayed.told(router_s=router_s) | {
        "num_questions": len(pool.questions),
        "num_models": len(pool.models),
    }


@dataclass(kw_only=True)
class _Replay:
    """What was run so far."""

    bench: Bench
    encoder: KeptEncoder
    extent: Extent
    runs: dict[str, list[Run]]
    scorers: list[dict[str, float]]
    chosen: list[dict[str, Any]]
    curve: dict[str, list[Run]]
    """Three proposers at each price of a dollar."""
    statics: list[frozenset[str]]
    rivals: dict[str, list[dict[str, Any]]]
    """The static choice at the cost of each of ours, by seed."""
    left_out: list[int]
    """Of the training, by seed, since the test asks the same."""

    def seed(self, seed: int) -> None:
        """Fit and run everything under one seed."""
        extent, pool = self.extent, self.bench.pool
        parts = split(pool, seed, most_train=extent.most_train, most_test=extent.most_test)
        self.left_out.append(parts.num_left_out)
        started = time.perf_counter()
        fit = fitted(pool, parts, self.bench.models, self.encoder, seed=seed)
        self.scorers.append(self._scorer(fit, seed) | {"fit_s": time.perf_counter() - started})
        self.statics.append(frozenset(fit.best_three))
        for name, (method, key) in self.bench.baselines(fit).items():
            self._add(name, self.bench.run(method, parts.test, key))
        self._routed(fit)

    def told(self, *, router_s: float) -> dict[str, Any]:
        """Summaries and differences."""
        simulating = {SIMULATED, PAPER}
        has_answers = self.bench.pool.answers_are_recorded
        methods = []
        for name, runs in self.runs.items():
            routed = is_routed(name)
            one = summary(
                name,
                runs,
                self.statics if routed and has_answers else None,
                router_s=router_s if routed else 0.0,
                router_usd=ROUTER.cost_usd(router_s) if routed else 0.0,
                uses_simulated_scores=name in simulating,
                about=ABOUT.get(name, ""),
            )
            methods.append(one.as_plain() | {"is_routed": routed})
        return {
            "name": self.bench.pool.name,
            "methods": methods,
            "curve": [
                summary(
                    price, runs, self.statics if has_answers else None, router_s=router_s
                ).as_plain()
                for price, runs in self.curve.items()
            ],
            "differences": self._differences(),
            "scorer": {
                key: float(np.mean([s[key] for s in self.scorers])) for key in self.scorers[0]
            },
            "encoding_ms": 1000 * router_s,
            "chosen": self.chosen,
            "static_at_its_cost": self.rivals,
            "static_best_3": [sorted(best) for best in self.statics],
            "num_test": len(self.runs[ORACLE][0].questions),
            "num_repeated": self.bench.pool.num_repeated,
            "num_left_out": self.left_out,
        }

    def _routed(self, fit: Fitted) -> None:
        bench, test = self.bench, fit.split.test
        has_answers = bench.pool.answers_are_recorded
        chosen = choose(bench, fit, most_tune=self.extent.most_tune)
        for name, knobs in chosen.knobs.items():
            self._add(name, bench.run(bench.mixture(fit, knobs), test))
        for mine, usd in chosen.usd.items():
            self._static_within(fit, mine, usd)
        for share, price in zip(PRICES, bench.prices(fit), strict=True):
            mixture = bench.mixture(fit, Knobs(width=3 if has_answers else 1, usd=price))
            run = bench.run(mixture, test[: self.extent.most_curve])
            self.curve.setdefault(str(share), []).append(run)
        self.chosen.append({name: asdict(knobs) for name, knobs in chosen.knobs.items()})

    def _static_within(self, fit: Fitted, mine: str, our_usd: float) -> None:
        """The strongest static rival of one of ours: chosen in training, at what ours costs there."""
        bench = self.bench
        tune = fit.split.tune[: self.extent.most_tune]
        best, usd = bench.static_within(fit, EQUAL * our_usd, tune)
        order = (*best, *(name for name in fit.order if name not in best))
        crew = Crew(roster=bench.pool.roster, models=bench.models, limits=LIMITS)
        method = StaticBestK(crew=crew, order=order, k=len(best))
        key = ("static", len(best), order[: len(best) + 2])
        self._add(within(mine), bench.run(method, fit.split.test, key))
        rival = {"models": best, "usd_in_training": usd, "our_usd_in_training": our_usd}
        self.rivals.setdefault(mine, []).append(rival)

    def _scorer(self, fit: Fitted, seed: int) -> dict[str, float]:
        """How good the scorer is by itself, beside ridge regression on words and the best single model."""
        pool, test = self.bench.pool, fit.split.test
        texts, labels = [question.text for question in test], pool.labels(test)
        known = np.nan_to_num(labels)
        train = fit.split.train
        ridge = RidgeScorer.fit(
            [question.text for question in train], pool.labels(train), pool.models, seed=seed
        )
        told = {"best_single": float(known[:, pool.models.index(fit.order[0])].mean())}
        told["oracle"] = float(known.max(axis=1).mean())
        for name, scorer in (("learned", fit.final_scorer), ("ridge", ridge)):
            scores = scorer.score_many(texts)
            best = np.where(np.isnan(labels), -1.0, scores).argmax(axis=1)
            told |= {
                f"{name}_top_1": float(known[np.arange(len(test)), best].mean()),
                f"{name}_hit_1": hit_at(1, scores, labels),
                f"{name}_hit_3": hit_at(3, scores, labels),
                f"{name}_ece": calibration_error(scores, labels),
            }
        # What calling the same three always would hit, without any scorer.
        static = np.tile(-np.arange(len(pool.models), dtype=float), (len(test), 1))
        places = [pool.models.index(model) for model in fit.order]
        ordered = labels[:, places]
        return told | {
            "static_hit_1": hit_at(1, static, ordered),
            "static_hit_3": hit_at(3, static, ordered),
        }

    def _add(self, name: str, run: Run) -> None:
        self.runs.setdefault(name, []).append(run)

    def _differences(self) -> dict[str, dict[str, Any]]:
        theirs = [name for name in (STATIC, SINGLE, ALL, MOA_1, MOA_3) if name in self.runs]
        found = {}
        for mine in (name for name in COMPARED if name in self.runs):
            rivals = {name: name for name in theirs}
            if within(mine) in self.runs:
                rivals[WITHIN] = within(mine)
            for title, other in rivals.items():
                found[f"{mine} | {title}"] = asdict(self._difference(mine, other))
        return found

    def _difference(self, mine: str, other: str) -> Difference:
        runs = self.runs[mine]
        return paired_difference(
            [run.scores for run in runs],
            [run.scores for run in self.runs[other]],
            [run.questions for run in runs],
            num_resamples=self.extent.num_resamples,
        )


def _encoding_s(encoder: SentenceEncoder, texts: Sequence[str]) -> float:
    """Of one query, the median of some."""
    encoder.encode(texts[:1])
    times = []
    for text in texts:
        started = time.perf_counter()
        encoder.encode([text])
        times.append(time.perf_counter() - started)
    return float(np.median(times))
