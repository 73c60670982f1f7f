"""How far the speed-up of one kernel repeats from Verdict to Verdict.

    python benchmarks/cuda_spread.py [--device cuda:0] [--repeats 20] [--quick] [--to FOLDER]

Three kernels of about 100, 200 and 500 microseconds: one that only moves memory, a reduction, a product of
matrices. Every Verdict has new seeds and a new candidate process.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, for what they share

from benchmarks.on_gpu.options import options, parsed
from benchmarks.on_gpu.problems import Problem, bias_gelu, matmul, row_sum
from benchmarks.on_gpu.results import record, say

from cuda_gym.core.device import Device
from cuda_gym.core.verdict import Fingerprint
from cuda_gym.judge.judge import Judge

BOUND = 0.01
MAX_S = 150.0
"""For all repeats of one kernel."""


def problems(device: Device) -> Sequence[Problem]:
    """Small where there is no GPU."""
    if device.kind == "cpu":
        return [bias_gelu(64, 1024), row_sum(64, 4096), matmul(96)]
    return [bias_gelu(24_576, 2048), row_sum(8192, 24_576), matmul(1536)]


def spread(
    judge: Judge, problem: Problem, repeats: int
) -> tuple[Fingerprint | None, dict[str, Any]]:
    """Repeated Verdicts of one kernel, after one that warms the reference."""
    judge.judge(problem.task, problem.submission)
    start = time.monotonic()
    speedups: list[float] = []
    times_us: list[float] = []
    compile_us: list[float] = []
    others: list[str] = []
    fingerprint: Fingerprint | None = None
    while len(speedups) + len(others) < repeats and time.monotonic() - start < MAX_S:
        verdict = judge.judge(problem.task, problem.submission)
        fingerprint = verdict.fingerprint or fingerprint
        if verdict.timing is None:
            others.append(verdict.summary[:300])
            say(f"  {problem.name}: {verdict.outcome.value}: {verdict.summary[:300]}")
            continue
        speedups.append(verdict.timing.speedup)
        times_us.append(verdict.timing.time_us)
        compile_us.append(verdict.timing.compile_us)
        say(
            f"  {problem.name}: {speedups[-1]:.4f}x ({verdict.timing.speedup_low:.4f} to "
            f"{verdict.timing.speedup_high:.4f}), {times_us[-1]:.1f} us, {verdict.judge_s:.2f} s, "
            f"{verdict.timing.timer}"
        )
    return fingerprint, {
        "problem": problem.name,
        "num_verdicts": len(speedups),
        "not_right": others,
        "mean_speedup": statistics.fmean(speedups) if speedups else None,
        "spread": relative_deviation(speedups),
        "spread_of_time": relative_deviation(times_us),
        "spread_of_compile": relative_deviation(compile_us),
        "time_us": statistics.median(times_us) if times_us else None,
        "bound": BOUND,
        "speedups": speedups,
    }


def relative_deviation(values: Sequence[float]) -> float | None:
    """Standard deviation over mean; None of fewer than two.

    >>> relative_deviation([1.0, 1.0, 1.0])
    0.0
    """
    return statistics.stdev(values) / statistics.fmean(values) if len(values) > 1 else None


def main() -> None:
    parser = options(__doc__, quick="five Verdicts of each")
    parser.add_argument("--repeats", type=int, default=20)
    arguments = parsed(parser)
    if arguments is None:
        return
    found = []
    judge = Judge(arguments.device)
    try:
        for problem in problems(arguments.device):
            repeats = 5 if arguments.quick else arguments.repeats
            fingerprint, one = spread(judge, problem, repeats)
            found.append(one)
            holds = one["spread"] is not None and one["spread"] <= BOUND and not one["not_right"]
            say(
                f"{problem.name}: standard deviation {one['spread'] or 0:.2%} of {one['num_verdicts']}, "
                f"at most {BOUND:.0%}: {'holds' if holds else 'DOES NOT HOLD'}"
            )
            if fingerprint is not None:
                record(fingerprint, "spread", {"kernels": found}, arguments.to)
    finally:
        judge.close()


if __name__ == "__main__":
    main()
