"""What a Verdict costs on `cpu`, how far it repeats, and what the solutions of `core` earn.

    python benchmarks/evaluation.py [--write] [--repeats 20]

Each figure is of this machine in this run: candidate and torch.compile are always interleaved in
one judgement. A first judgement of each task warms the reference and is not counted.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import time
from importlib import metadata, resources
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import JUDGE_VERSION, Verdict
from cuda_gym.judge.judge import Judge
from cuda_gym.judge.profiling import telemetry
from cuda_gym.tasks.registry import list_tasks

RESULTS = Path(__file__).parent / "results" / "evaluation.md"
REPEATED = ("core/row_sum", "core/bias_gelu")


def solution(task: Task) -> Submission:
    """The files that the scripted agent hands in for a task."""
    folder = Path(str(resources.files("cuda_gym.agents") / "solutions" / task.id.split("/")[1]))
    paths = [path for path in folder.rglob("*") if path.suffix in {".py", ".cu"}]
    return Submission.of({str(p.relative_to(folder)): p.read_text() for p in paths})


def judged(judge: Judge, task: Task) -> tuple[Verdict, float]:
    """A Verdict, and the seconds that it took."""
    start = time.perf_counter()
    verdict = judge.judge(task, solution(task))
    return verdict, time.perf_counter() - start


def core_row(judge: Judge, task: Task) -> str:
    """One line of the table of solutions: the middle one of three Verdicts."""
    judged(judge, task)
    runs = [judged(judge, task) for _ in range(3)]
    seconds = statistics.median(seconds for _, seconds in runs)
    right = [verdict.timing for verdict, _ in runs if verdict.timing is not None]
    if len(right) < len(runs):
        return f"| {task.id} | {[verdict.outcome.value for verdict, _ in runs]} | | | | | |"
    timing = sorted(right, key=lambda t: t.speedup)[1]
    eager = f"{timing.eager_us:,.0f}" if timing.eager_us is not None else ""
    return (
        f"| {task.id} | {timing.speedup:.2f}x | {timing.speedup_low:.2f}-{timing.speedup_high:.2f} "
        f"| {timing.time_us:,.0f} | {timing.compile_us:,.0f} | {eager} | {seconds:.2f} |"
    )


def spread_row(judge: Judge, task: Task, repeats: int) -> str:
    """One line of the table of repetitions."""
    judged(judge, task)
    runs = [judged(judge, task) for _ in range(repeats)]
    speedups = [verdict.speedup for verdict, _ in runs if verdict.speedup is not None]
    seconds = [seconds for _, seconds in runs]
    disturbed = sum(verdict.timing.num_disturbed for verdict, _ in runs if verdict.timing)
    spread = statistics.stdev(speedups) / statistics.fmean(speedups)
    return (
        f"| {task.id} | {len(speedups)} of {repeats} | {statistics.fmean(speedups):.3f}x "
        f"| {spread:.1%} | {statistics.median(seconds):.2f} | {max(seconds):.2f} | {disturbed} |"
    )


def report(judge: Judge, repeats: int) -> str:
    """The whole result as Markdown."""
    tasks = list_tasks("core")
    rows = [core_row(judge, task) for task in tasks]
    spreads = [spread_row(judge, task, repeats) for task in tasks if task.id in REPEATED]
    load = telemetry.read_cpu().load
    return "\n".join(
        [
            "# Evaluation on cpu",
            "",
            f"{datetime.datetime.now(tz=datetime.UTC).date()}, {telemetry.cpu_name()}, "
            f"{telemetry.num_cores()} cores, torch {metadata.version('torch')}, judge {JUDGE_VERSION}, "
            f"load over cores at the end {load or 0.0:.2f}. By `benchmarks/evaluation.py`.",
            "",
            "## What the solutions of `core` earn",
            "",
            "The middle one of three Verdicts, each warm; microseconds a call, seconds a Verdict.",
            "",
            "| task | speed-up over torch.compile | 95 % interval | solution | torch.compile | eager "
            "| one evaluation |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
            "## How far a Verdict repeats",
            "",
            "| task | right | mean speed-up | standard deviation | median seconds | most | "
            "disturbed pairs |",
            "|---|---|---|---|---|---|---|",
            *spreads,
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="record the figures")
    parser.add_argument("--repeats", type=int, default=20, help="Verdicts of one kernel")
    arguments = parser.parse_args()
    judge = Judge(Device("cpu"))
    try:
        text = report(judge, arguments.repeats)
    finally:
        judge.close()
    print(text)
    if arguments.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
