"""How many evaluations a minute one GPU gives, and what a build costs.

    python benchmarks/cuda_throughput.py [--device cuda:0] [--threads 16] [--quick] [--to FOLDER]

Different kernels of four tasks go through one Judge from several threads: while one is timed, others are
built, loaded and proved as far as the device's lock lets them. The four references are warm, every text is
new. A build is measured alone.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, for what they share

from benchmarks.on_gpu import problems
from benchmarks.on_gpu.options import options, parsed
from benchmarks.on_gpu.problems import Problem, fresh
from benchmarks.on_gpu.results import record, say

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Outcome
from cuda_gym.core.verdict import Verdict
from cuda_gym.judge.judge import Judge, JudgeConfig

BOUND_A_MINUTE = 100.0
BOUND_BUILD_S = {"launcher": 1.2, "kernel-only": 0.1}
THREADS = (64, 128, 256, 512)
ITEMS = (1, 2, 4)


def kernels(device: Device) -> list[Problem]:
    """Forty-eight right kernels, of four tasks in turns."""
    rows, columns = (64, 1024) if device.kind == "cpu" else (4096, 4096)
    return [
        make(rows, columns, threads=threads, items=items)
        for threads in THREADS
        for items in ITEMS
        for make in (problems.relu, problems.bias_gelu, problems.softmax, problems.row_sum)
    ]


def judged(judge: Judge, problem: Problem) -> tuple[Problem, Verdict, float]:
    """A Verdict with a cold build, and its seconds."""
    start = time.perf_counter()
    verdict = judge.judge(problem.task, fresh(problem.submission))
    return problem, verdict, time.perf_counter() - start


def throughput(
    judge: Judge, all_kernels: Sequence[Problem], num_threads: int
) -> tuple[Verdict, dict[str, Any]]:
    """All of them through one judge, after one of each task alone."""
    tasks = {problem.task.hash: problem for problem in all_kernels}
    for problem in tasks.values():
        judge.warm(problem.task)
    for problem in tasks.values():
        _, verdict, seconds = judged(judge, problem)
        say(f"  first of {problem.name}: {seconds:.1f} s, {verdict.outcome.value}")
    found: list[dict[str, Any]] = []
    start = time.perf_counter()
    with ThreadPoolExecutor(num_threads) as pool:
        for done in as_completed([pool.submit(judged, judge, one) for one in all_kernels]):
            problem, verdict, seconds = done.result()
            right = verdict.outcome is Outcome.CORRECT
            say(
                f"  {time.perf_counter() - start:6.2f} s: {problem.name}, "
                f"{seconds:.2f} s, {verdict.outcome.value}, {verdict.speedup or 0:.2f}x"
                f"{'' if right else ' ' + verdict.summary[:300]}"
            )
            found.append(
                {
                    "problem": problem.name,
                    "seconds": seconds,
                    "right": right,
                    "speedup": verdict.speedup,
                }
            )
    wall_s = time.perf_counter() - start
    return verdict, {
        "num_kernels": len(all_kernels),
        "num_tasks": len(tasks),
        "num_threads": num_threads,
        "num_cores": os.cpu_count(),
        "wall_s": wall_s,
        "a_minute": 60.0 * len(found) / wall_s,
        "bound_a_minute": BOUND_A_MINUTE,
        "right": sum(one["right"] for one in found),
        "median_latency_s": statistics.median(one["seconds"] for one in found),
        "evaluations": found,
    }


def builds(judge: Judge, repeats: int) -> dict[str, Any]:
    """Cold builds of a file with a launcher, and of one without host code."""
    found: dict[str, Any] = {}
    for name, problem in (("launcher", problems.relu()), ("kernel-only", problems.kernel_only())):
        judge.compile(problem.task, fresh(problem.submission))
        seconds, built = [], True
        for _ in range(repeats):
            start = time.perf_counter()
            findings = judge.compile(problem.task, fresh(problem.submission))
            seconds.append(time.perf_counter() - start)
            built &= findings.build is not None
        found[name] = {
            "median_s": statistics.median(seconds),
            "least_s": min(seconds),
            "bound_s": BOUND_BUILD_S[name],
            "built": built,
            "toolchain": None if findings.build is None else findings.build.toolchain,
        }
        holds = built and found[name]["median_s"] <= BOUND_BUILD_S[name]
        say(f"build, {name}: {found[name]} {'holds' if holds else 'DOES NOT HOLD'}")
    return found


def main() -> None:
    parser = options(__doc__, quick="a quarter of the kernels")
    parser.add_argument("--threads", type=int, default=min(16, os.cpu_count() or 1))
    arguments = parsed(parser)
    if arguments is None:
        return
    all_kernels = kernels(arguments.device)[: 12 if arguments.quick else None]
    num_tasks = len({problem.task.hash for problem in all_kernels})
    judge = Judge(arguments.device, JudgeConfig(max_references=num_tasks))
    try:
        built = builds(judge, 3 if arguments.quick else 5)
        verdict, found = throughput(judge, all_kernels, arguments.threads)
    finally:
        judge.close()
    holds = found["a_minute"] >= BOUND_A_MINUTE and found["right"] == found["num_kernels"]
    say(
        f"{found['a_minute']:.0f} evaluations a minute, {found['right']} of {found['num_kernels']} "
        f"right, at least {BOUND_A_MINUTE:.0f}: {'holds' if holds else 'DOES NOT HOLD'}"
    )
    if verdict.fingerprint is not None:
        figures = {"throughput": found, "builds": built}
        record(verdict.fingerprint, "throughput", figures, arguments.to)


if __name__ == "__main__":
    main()
