"""Builds Observations: valid text of bounded length, and finite numbers under fixed names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from cuda_gym.core.episode import Observation, Stage
from cuda_gym.core.findings import Findings, Severity
from cuda_gym.core.plain import as_plain
from cuda_gym.core.verdict import Verdict
from cuda_gym.envs.brevity import cut, fold

__all__ = [
    "METRICS",
    "METRIC_BOUND",
    "StepResult",
    "findings_metrics",
    "info_of",
    "observe",
    "valid",
    "verdict_metrics",
]

METRICS: Mapping[str, str] = MappingProxyType(
    {
        "turns_left": "Turns that remain after this one.",
        "turns_used": "Turns taken.",
        "reward": "What this turn paid.",
        "paid": "The sum of rewards so far.",
        "best_speedup": "Pooled speed-up over torch.compile of the best right submission so far.",
        "speedup": "Speed-up over torch.compile of the present files, latest measurement.",
        "speedup_low": "Lower end of its 95 % interval.",
        "speedup_high": "Upper end of its 95 % interval.",
        "eager_speedup": "Speed-up over eager of the present files.",
        "time_us": "Time of the present files.",
        "compile_us": "Time of the reference under torch.compile, measured beside it.",
        "eager_us": "Time of the eager reference.",
        "num_errors": "Compiler errors in the present files.",
        "num_warnings": "Compiler warnings in the present files.",
        "num_kernels": "Kernels in the present files, once they compile.",
        "build_s": "Wall time of their build.",
        "draws_passed": "Share of the hidden draws that passed, 0 to 1.",
        "wrong_fraction": "Share of wrong elements in the worst draw, 0 to 1.",
        "error_ratio": "Largest error over what is allowed; at most 1 passes.",
    }
)
"""The names of all numbers an observation can carry, with what they say. "Present files" numbers are
there from the measurement until the next edit."""

METRIC_BOUND = 1e9
"""Numbers beyond it are cut to it, so that every observation lies in its space."""


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """What a turn led to."""

    observation: Observation
    reward: float
    terminated: bool
    """The episode is over and settled."""
    truncated: bool
    """The machine failed: the episode is void."""
    info: dict[str, Any]
    """Plain and fresh each time; a key is missing where there is nothing to say."""


def observe(
    text: str, stage: Stage, metrics: Mapping[str, float], *, max_chars: int
) -> Observation:
    """An Observation that fits its space.

    Raises:
        ValueError: a metric has no such name.
    """
    if unknown := metrics.keys() - METRICS.keys():
        raise ValueError(
            f"There is no metric {min(unknown)!r}. Add it to METRICS with what it says."
        )
    finite = {
        name: max(-METRIC_BOUND, min(METRIC_BOUND, float(metrics[name])))
        for name in METRICS
        if name in metrics and math.isfinite(metrics[name])
    }
    return Observation(text=cut(fold(valid(text)), max_chars), stage=stage, metrics=finite)


def valid(text: str) -> str:
    r"""The same text with lone surrogates replaced, so that it can be encoded.

    >>> valid("µs \udc80")
    'µs ?'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def findings_metrics(findings: Findings) -> dict[str, float]:
    """The numbers that Findings carry."""
    metrics = {
        "num_errors": float(sum(d.severity is Severity.ERROR for d in findings.diagnostics)),
        "num_warnings": float(sum(d.severity is Severity.WARNING for d in findings.diagnostics)),
    }
    if findings.build is not None:
        metrics["num_kernels"] = float(len(findings.build.kernels))
        metrics["build_s"] = findings.build.build_s
    if findings.draws:
        metrics["draws_passed"] = sum(d.passed for d in findings.draws) / len(findings.draws)
        metrics["wrong_fraction"] = max(
            d.num_wrong / max(d.num_elements, 1) for d in findings.draws
        )
        ratios = [d.error_ratio for d in findings.draws if d.error_ratio is not None]
        if ratios:
            metrics["error_ratio"] = max(ratios)
    return metrics


def verdict_metrics(verdict: Verdict) -> dict[str, float]:
    """The numbers that a Verdict carries, those of its Findings among them."""
    metrics = findings_metrics(verdict.findings)
    timing = verdict.timing
    if timing is not None:
        metrics["time_us"] = timing.time_us
        metrics["compile_us"] = timing.compile_us
        metrics["speedup"] = timing.speedup
        metrics["speedup_low"] = timing.speedup_low
        metrics["speedup_high"] = timing.speedup_high
        if timing.eager_us is not None and timing.eager_speedup is not None:
            metrics["eager_us"] = timing.eager_us
            metrics["eager_speedup"] = timing.eager_speedup
    return metrics


def info_of(
    *,
    task_id: str,
    stage: Stage,
    tool: str | None = None,
    findings: Findings | None = None,
    verdict: Verdict | None = None,
    void: str | None = None,
) -> dict[str, Any]:
    """The `info` of a turn: fresh, JSON-able, and without a single None.

    Missing keys instead of None, also inside the Verdict: a vector environment cannot batch None
    from one episode with a dict from another.
    """
    seen = findings if verdict is None else verdict.findings
    outcome = None if seen is None else seen.outcome
    info = {
        "task": task_id,
        "tool": tool,
        "stage": stage.value,
        "outcome": None if outcome is None else outcome.value,
        "verdict": None if verdict is None else as_plain(verdict),
        "speedup": None if verdict is None else verdict.speedup,
        "void": void,
    }
    return {key: _without_none(value) for key, value in info.items() if value is not None}


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value
