"""The version of the judge stands for the numbers that decide a Verdict.

Covered: plans of races, what of a false claim is paid, default bounds of a judge, error budgets, hidden draws, the
floor of a time: all by what they do, so that no comment and no private name matters. Not covered: the other rules.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import asdict, replace

import torch

from cuda_gym.core.verdict import JUDGE_VERSION, DeviceRates
from cuda_gym.errors import Refused
from cuda_gym.judge.judge import JudgeConfig
from cuda_gym.judge.profiling.audits import Audit
from cuda_gym.judge.profiling.pairs import Pair
from cuda_gym.judge.profiling.roofline import is_below_floor
from cuda_gym.judge.profiling.timing import summarise
from cuda_gym.judge.profiling.timing_plan import CPU_PLAN, GPU_PLAN, REMAPPING_CPU_PLAN, TimingPlan
from cuda_gym.judge.sandbox.draw_plan import plan_draws, plan_hidden
from cuda_gym.judge.verification import inputs
from cuda_gym.judge.verification.budget import Budget, Expected, is_fit
from cuda_gym.judge.verification.inputs import DrawKind

COMMITTED = ("6", "73a4681d0a53187e")
"""A version, and the digest of its numbers."""

RATES = DeviceRates(
    copy_gb_per_s=2000.0,
    gflop_per_s=1.0,
    cache_bytes=1 << 20,
    num_cores=1,
    cached_gb_per_s=5000.0,
    peak_gb_per_s=3000.0,
)
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def highest(passes: Callable[[float], bool], *, most: float) -> float:
    """The highest number up to which something passes, to six digits."""
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return float(f"{low:.6g}")


def budgets() -> object:
    """What is allowed on each kind of draw, and how far off eager may be for the draw to be used."""

    def bears(kind: DrawKind, dtype: torch.dtype, eager: float) -> bool:
        one = Expected(value=torch.zeros(1), dtype=dtype, least_allowed=torch.zeros(1), eager=eager)
        return is_fit([one], kind)

    return [
        (
            str(dtype),
            kind.value,
            asdict(Budget.of(dtype, kind)),
            highest(lambda eager: bears(kind, dtype, eager), most=1e6),  # noqa: B023 (used at once)
        )
        for dtype in DTYPES
        for kind in DrawKind
    ]


def draws() -> object:
    """How many draws there are, under how many weights, and what is hidden where in a race: of many seeds."""
    opened = {"draws": [kind.value for kind in DrawKind]}
    planned = [plan_draws(opened, random.Random(seed)) for seed in range(64)]
    hidden = [plan_hidden(opened, random.Random(seed), weights=1) for seed in range(64)]
    return {
        "kinds": sorted({(len(plan), len({draw.kind for draw in plan})) for plan in planned}),
        "ends": sorted({(plan[0].kind, plan[-1].kind) for plan in planned}),
        "weights": sorted({tuple(d.weights == p[0].weights for d in p) for p in planned}),
        "hidden": sorted({len(plan) for plan in hidden}),
        "hidden where": sorted({number for plan in hidden for number in plan}),
        "hidden what": sorted({draw.kind for plan in hidden for draw in plan.values()}),
        "spreads": [
            inputs.LARGE_OFFSET,
            inputs.TINY_SCALE,
            inputs.SIGNED_SPREAD,
            inputs.SPIKE,
            inputs.HALF_SPIKE,
        ],
    }


def floors() -> object:
    """The highest time that is void: by memory's peak, by copies where nobody knows it, and by the cache."""
    devices = {
        "peak": RATES,
        "copies": replace(RATES, peak_gb_per_s=None),
        "cache": replace(RATES, cache_bytes=1 << 40),
    }

    def is_void(time_us: float, rates: DeviceRates) -> bool:
        sizes = {"written_bytes": 1 << 30, "influential_bytes": 1 << 30}
        return is_below_floor(time_us, **sizes, rates=rates) is not None

    return {
        name: highest(lambda time_us: is_void(time_us, rates), most=1e6)  # noqa: B023 (used at once)
        for name, rates in devices.items()
    }


def paid(plan: TimingPlan, claimed_us: float, hides: float, waiting: float) -> object:
    """The speed-up of a submission that claims one time and takes another; where it is refused, that."""
    calls, work_us = plan.max_calls, claimed_us * hides
    looked_at = Pair(
        reference_us=(*[100.0] * (calls // 2), *[300.0] * (calls - calls // 2)),
        candidate_us=(claimed_us,) * calls,
        wall_us=1000.0 + work_us * calls,
        protocol_us=None if plan.num_audits else 1000.0,
        waiting=waiting,
    )
    boldest = 1.0 if plan.num_audits else 2.0  # where nobody looks at a pair
    faster = replace(looked_at, candidate_us=(claimed_us / boldest,) * calls, protocol_us=None)
    audits = [Audit(call_us=work_us, num_calls=calls, was_queued=True)] * plan.num_audits
    pairs = [looked_at, faster, faster] * 5
    try:
        timing = summarise(pairs, plan, timer="", audits=audits, best_compile_us=80.0)
    except Refused:
        return "refused"
    return [float(f"{value:.6g}") for value in (timing.speedup, timing.time_us, timing.compile_us)]


def payments() -> object:
    return [
        paid(plan, claimed_us, hides, waiting)
        for plan in (CPU_PLAN, REMAPPING_CPU_PLAN, GPU_PLAN)
        for claimed_us in (0.4, 10.0, 100.0)
        for hides in (1.0, 1.2, 1.4, 1.8, 2.5, 3.8, 5.0)
        for waiting in (0.0, 1.0)
    ]


def digest() -> str:
    config = JudgeConfig()
    numbers = {
        "plans": [asdict(plan) for plan in (CPU_PLAN, REMAPPING_CPU_PLAN, GPU_PLAN)],
        "payments": payments(),
        "bounds": [config.memory_bytes, asdict(config.deadlines)],
        "budgets": budgets(),
        "draws": draws(),
        "floors": floors(),
    }
    return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:16]


def test_the_numbers_that_decide_a_verdict_are_those_of_this_version() -> None:
    found = (JUDGE_VERSION, digest())
    assert found == COMMITTED, (
        "Raise JUDGE_VERSION (core/verdict.py) if an equal submission could now get another Verdict, and in "
        f"any case write COMMITTED = {found} here."
    )
