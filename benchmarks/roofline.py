"""How near torch.compile and the solutions of `core` come to the roofline of this machine.

    python benchmarks/roofline.py [--write] [--task core/softmax ...]

The floor is what moving every byte once, or the arithmetic, takes at the rates that this machine
reached by itself. The middle one of three Verdicts counts. The last column is the length of the page
that `profile` shows, at 3.5 characters a token.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
from importlib import metadata
from pathlib import Path

from cuda_gym.agents.scripted import load_solution, solved_tasks
from cuda_gym.core.device import Device
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import DeviceRates, Verdict
from cuda_gym.envs.feedback.call_page import describe_flops
from cuda_gym.envs.feedback.next_limit import next_limit
from cuda_gym.envs.feedback.profile_page import describe_verdict
from cuda_gym.envs.feedback.words import describe_bytes
from cuda_gym.judge.judge import Judge
from cuda_gym.judge.profiling import telemetry
from cuda_gym.judge.profiling.roofline import floor_of
from cuda_gym.tasks.registry import list_tasks

RESULTS = Path(__file__).parent / "results" / "roofline.md"
CHARS_A_TOKEN = 3.5
REPEATS = 3


def middle(judge: Judge, task: Task, submission: Submission) -> Verdict | None:
    """The middle one of a few Verdicts by time; None where one is not right."""
    verdicts = [judge.judge(task, submission) for _ in range(REPEATS + 1)][1:]
    times = [v.timing.time_us for v in verdicts if v.timing is not None]
    if len(times) < len(verdicts):
        return None
    ranked = sorted(zip(times, range(REPEATS), strict=True))
    return verdicts[ranked[REPEATS // 2][1]]


def row(task: Task, verdict: Verdict, tokens: float) -> str:
    """One line of the table."""
    timing, profile, floor = verdict.timing, verdict.profile, floor_of(verdict.profile)
    assert timing is not None
    limit = next_limit(timing, profile).limit.value
    if floor is None or profile is None or profile.work is None:
        return f"| {task.id} | | | | | | {limit} | {tokens:.0f} |"
    work = profile.work
    flops = "" if not work.flops else describe_flops(work.flops)
    return (
        f"| {task.id} | {describe_bytes(work.read_bytes + work.written_bytes)} | {flops} "
        f"| {floor.time_us:,.0f} ({'arithmetic' if floor.is_arithmetic else 'memory'}) "
        f"| {timing.compile_us:,.0f} ({floor.time_us / timing.compile_us:.0%}) "
        f"| {timing.time_us:,.0f} ({floor.time_us / timing.time_us:.0%}) | {limit} | {tokens:.0f} |"
    )


def report(judge: Judge, tasks: list[Task]) -> str:
    """The whole result as Markdown."""
    rows, tokens = [], []
    rates: DeviceRates | None = None
    for task in tasks:
        submission = Submission.of(load_solution(task.id))
        verdict = middle(judge, task, submission)
        if verdict is None:
            rows.append(f"| {task.id} | not right | | | | | | |")
            continue
        tokens.append(len(describe_verdict(verdict, submission)) / CHARS_A_TOKEN)
        rates = verdict.profile.rates if verdict.profile is not None else rates
        rows.append(row(task, verdict, tokens[-1]))
    said = "" if rates is None else (
        f"It copies {rates.copy_gb_per_s:.1f} GB/s, multiplies matrices at "
        f"{rates.gflop_per_s:.0f} GFLOP/s, and has {describe_bytes(rates.cache_bytes)} of cache. "
    )  # fmt: skip
    load = telemetry.read_cpu().load
    return "\n".join(
        [
            "# Roofline on cpu",
            "",
            f"{datetime.datetime.now(tz=datetime.UTC).date()}, {telemetry.cpu_name()}, "
            f"{telemetry.num_cores()} cores, torch {metadata.version('torch')}, "
            f"load over cores at the end {load or 0.0:.2f}. By `benchmarks/roofline.py`.",
            "",
            f"{said}Microseconds a call; in brackets the share of the roofline.",
            "",
            "| task | bytes | FLOP | floor | torch.compile | solution | limit | tokens of the page |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
            "",
            f"Median length of the page: {statistics.median(tokens or [0.0]):.0f} tokens.",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="record the figures")
    parser.add_argument("--task", action="append", help="only these; all with a solution otherwise")
    arguments = parser.parse_args()
    wanted = arguments.task or solved_tasks()
    tasks = [task for task in list_tasks("core") if task.id in wanted]
    judge = Judge(Device("cpu"))
    try:
        text = report(judge, tasks)
    finally:
        judge.close()
    print(text)
    if arguments.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
