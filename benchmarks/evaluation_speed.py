"""How long one verified and timed evaluation takes, beside KernelBench's and CUDA Agent's.

    python benchmarks/evaluation_speed.py [--device cuda:0] [--kernelbench CHECKOUT]
                                          [--cuda-agent CHECKOUT] [--fresh N] [--quick] [--to FOLDER]

All of one run, on one machine: the same ReLU of 256 x 393,216 float32, the same kernel, five checks and a
hundred timed calls where that can be asked for. Ours is warm (the zygote has imported torch, the reference
is compiled) and its build is cold: a text that was never compiled. Each evaluation of the others is a fresh
process, as their own runners make it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, for what they share

from benchmarks.on_gpu.options import options, parsed
from benchmarks.on_gpu.peers import cuda_agent_runs, kernelbench_runs
from benchmarks.on_gpu.problems import Problem, fresh, matmul, relu, softmax
from benchmarks.on_gpu.results import machine_line, record, say

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Outcome
from cuda_gym.core.verdict import Verdict
from cuda_gym.judge.judge import Judge

CHECKS, RUNS = 5, 100
BOUND_S = {"relu": 1.5, "fused": 2.0, "matmul": 2.0}
BOUND_TIMES = 40.0


def problems(device: Device) -> Sequence[Problem]:
    """ReLU first; small where there is no GPU."""
    if device.kind == "cpu":
        return [relu(16, 4096), softmax(64, 512), matmul(128)]
    return [relu(), softmax(), matmul()]


def evaluated(judge: Judge, problem: Problem) -> tuple[Verdict, dict[str, Any]]:
    """One Verdict with a cold build, and what it took."""
    submission = fresh(problem.submission)
    start = time.perf_counter()
    verdict = judge.judge(problem.task, submission)
    seconds = time.perf_counter() - start
    build, timing = verdict.findings.build, verdict.timing
    return verdict, {
        "seconds": seconds,
        "build_s": None if build is None else build.build_s,
        "outcome": verdict.outcome.value,
        "summary": "" if verdict.outcome is Outcome.CORRECT else verdict.summary[:400],
        "checks": len(verdict.findings.draws),
        "timed_calls": None if timing is None else timing.num_calls,
        "time_us": None if timing is None else timing.time_us,
        "compile_us": None if timing is None else timing.compile_us,
        "eager_us": None if timing is None else timing.eager_us,
        "speedup": verdict.speedup,
    }


def stages(judge: Judge, problem: Problem) -> dict[str, float]:
    """Seconds by stage: the same submission is compiled, then verified, then judged.

    Two differences, so that nothing inside the judge has to be opened; an evaluation lets them overlap.
    """
    submission = fresh(problem.submission)
    marks = [time.perf_counter()]
    for step in (judge.compile, judge.verify, judge.judge):
        step(problem.task, submission)
        marks.append(time.perf_counter())
    build, prove, whole = (after - before for before, after in pairwise(marks))
    return {"build": build, "load and prove": prove, "race": whole - prove}


def ours(judge: Judge, problem: Problem, repeats: int) -> tuple[Verdict, dict[str, Any]]:
    """The median of several evaluations, after one that warms the reference."""
    start = time.perf_counter()
    verdict, first = evaluated(judge, problem)
    first["seconds"] = time.perf_counter() - start
    say(f"  {problem.name}, first of its task: {first['seconds']:.2f} s, {first['outcome']}")
    found = []
    for _ in range(repeats):
        verdict, one = evaluated(judge, problem)
        say(
            f"  {problem.name}: {one['seconds']:.3f} s, build {one['build_s'] or 0:.3f} s, "
            f"{one['outcome']}, {one['speedup'] or 0:.3f}x {one['summary']}"
        )
        found.append(one)
    seconds = [one["seconds"] for one in found]
    bound = BOUND_S[problem.name.split()[0]]
    median = statistics.median(seconds)
    return verdict, {
        "problem": problem.name,
        "median_s": median,
        "least_s": min(seconds),
        "most_s": max(seconds),
        "median_build_s": statistics.median(one["build_s"] or 0.0 for one in found),
        "bound_s": bound,
        "within": median <= bound,
        "right": all(one["outcome"] == "correct" for one in found),
        "first_s": first["seconds"],
        "stages_s": stages(judge, problem),
        "evaluations": found,
    }


def text_of(machine: dict[str, str], figures: dict[str, Any]) -> str:
    """The figures as Markdown."""
    lines = [
        "# How long an evaluation takes",
        "",
        f"{machine_line(machine)} By `benchmarks/evaluation_speed.py`.",
        "",
        "## Ours, warm, with a cold build",
        "",
        "| problem | median s | least | most | of it build | checks | timed calls | right | at most |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in figures["ours"]:
        last = one["evaluations"][-1]
        lines.append(
            f"| {one['problem']} | {one['median_s']:.2f} | {one['least_s']:.2f} "
            f"| {one['most_s']:.2f} | {one['median_build_s']:.2f} | {last['checks']} "
            f"| {last['timed_calls'] or ''} | {'yes' if one['right'] else 'NO'} | {one['bound_s']} |"
        )
    first_s = ", ".join(f"{one['first_s']:.1f} s" for one in figures["ours"])
    lines += [
        "",
        f"The first evaluation of each task also admits it and compiles its reference: {first_s}.",
    ]
    lines += [
        "",
        "The stages apart, one after the other (an evaluation lets them overlap), in seconds:",
        "",
        "| problem | build | load and prove | race |",
        "|---|---|---|---|",
        *(
            f"| {one['problem']} | {' | '.join(f'{s:.2f}' for s in one['stages_s'].values())} |"
            for one in figures["ours"]
        ),
    ]
    lines += _kernelbench_lines(figures) + _cuda_agent_lines(figures)
    return "\n".join([*lines, ""])


def _kernelbench_lines(figures: dict[str, Any]) -> list[str]:
    if not figures.get("kernelbench"):
        return ["", "KernelBench was not measured in this run."]
    median_s = figures["ours"][0]["median_s"]
    lines = [
        "",
        "## KernelBench, the same ReLU and kernel",
        "",
        f"{CHECKS} checks, {RUNS} timed calls. The extension is not yet built (fresh), or was built by an "
        "earlier process. `call` is the evaluation alone, `process` with the imports of its process.",
        "",
        "| extension | process s | call s | right | process / ours | call / ours |",
        "|---|---|---|---|---|---|",
    ]
    for one in figures["kernelbench"]:
        if not one["right"]:
            lines.append(f"| {one['state']} | {one['process_s']:.1f} | | NO | | |")
            continue
        lines.append(
            f"| {one['state']} | {one['process_s']:.1f} | {one['call_s']:.1f} | yes "
            f"| {one['process_s'] / median_s:.1f} | {one['call_s'] / median_s:.1f} |"
        )
    return lines


def _cuda_agent_lines(figures: dict[str, Any]) -> list[str]:
    steps = figures.get("cuda_agent")
    if not steps:
        return ["", "CUDA Agent's folder was not measured in this run."]
    total_s = sum(step["seconds"] for step in steps)
    times = f"{total_s / figures['ours'][0]['median_s']:.1f} times ours"
    return [
        "",
        "## CUDA Agent's folder, the same ReLU and kernel",
        "",
        f"Its scripts as they are, each a process of its own; {RUNS} profiled calls.",
        "",
        "| step | s | succeeded | last line |",
        "|---|---|---|---|",
        *(
            f"| {step['step']} | {step['seconds']:.1f} | {'yes' if step['right'] else 'NO'} "
            f"| `{step['said']}` |"
            for step in steps
        ),
        f"| all | {total_s:.1f} | | {times if all(step['right'] for step in steps) else ''} |",
    ]


def save(verdict: Verdict, figures: dict[str, Any], folder: Path) -> None:
    """Both files, as far as we are."""
    if verdict.fingerprint is None:
        say(f"  nothing is written: {verdict.summary[:400]}")
        return
    machine = record(verdict.fingerprint, "evaluation_speed", figures, folder)
    (folder / "evaluation_speed.md").write_text(text_of(machine, figures), encoding="utf-8")


def check_bounds(figures: dict[str, Any]) -> None:
    """Say which bounds hold."""
    for one in figures["ours"]:
        holds = "holds" if one["within"] and one["right"] else "DOES NOT HOLD"
        say(f"{one['problem']}: {one['median_s']:.2f} s, at most {one['bound_s']} s: {holds}")
    fresh_s = [
        one["process_s"]
        for one in figures["kernelbench"]
        if one["state"] == "fresh" and one["right"]
    ]
    if fresh_s:
        times = statistics.median(fresh_s) / figures["ours"][0]["median_s"]
        holds = "holds" if times >= BOUND_TIMES else "DOES NOT HOLD"
        say(f"KernelBench takes {times:.1f} times ours, at least {BOUND_TIMES:.0f}: {holds}")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Everything, ours first; what was asked for and what is there."""
    figures: dict[str, Any] = {"ours": [], "kernelbench": [], "cuda_agent": []}
    asked = problems(arguments.device)
    judge = Judge(arguments.device)
    try:
        for problem in asked:
            verdict, found = ours(judge, problem, 3 if arguments.quick else arguments.repeats)
            figures["ours"].append(found)
            save(verdict, figures, arguments.to)
    finally:
        judge.close()
    others: dict[str, Callable[[Path], Iterator[dict[str, Any]]]] = {
        "kernelbench": partial(
            kernelbench_runs,
            problem=asked[0],
            fresh=1 if arguments.quick else arguments.fresh,
            checks=CHECKS,
            runs=RUNS,
        ),
        "cuda_agent": partial(cuda_agent_runs, problem=asked[0], runs=RUNS),
    }
    for name, run in others.items():
        checkout = getattr(arguments, name)
        if checkout is None or not checkout.is_dir():
            say(f"{name} is left out: {checkout or 'no checkout was named'}")
            continue
        for step in run(checkout.resolve()):
            say(f"  {name}: {step}")
            figures[name].append(step)
            save(verdict, figures, arguments.to)
    return figures


def main() -> None:
    parser = options(__doc__, quick="three of ours, one of each other")
    parser.add_argument("--kernelbench", type=Path, help="a checkout")
    parser.add_argument("--cuda-agent", type=Path, help="a checkout")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--fresh", type=int, default=2, help="KernelBench's, before any is built")
    arguments = parsed(parser)
    if arguments is None:
        return
    check_bounds(measure(arguments))


if __name__ == "__main__":
    main()
