"""Does profiling the same kernel again and again pay? It must not.

    python benchmarks/noise_fishing.py [--write]

Verdicts of one kernel are made by the real judge. Then sessions are played whose judge draws from
them at random, scaled to a mean of 1.00x: real noise, and enough episodes to see one per cent.
"""

# ruff: noqa: ARG002 (a judge that draws looks at nothing)

from __future__ import annotations

import argparse
import datetime
import random
import statistics
from dataclasses import replace
from importlib import resources
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Findings
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Verdict
from cuda_gym.envs.session import Session
from cuda_gym.judge.judge import Judge
from cuda_gym.judge.profiling import telemetry
from cuda_gym.tasks.registry import load_task

RESULTS = Path(__file__).parent / "results" / "noise_fishing.md"
TASK = "core/matmul_bias_relu"
CALL = '{"name": "%s", "arguments": {}}'


class ResamplingJudge:
    """Answers with one of the Verdicts that it was given."""

    device = Device("cpu")

    def __init__(self, verdicts: list[Verdict], seed: int) -> None:
        self._verdicts = verdicts
        self._random = random.Random(seed)

    def warm(self, task: Task) -> None:
        """Prepare nothing."""

    def compile(self, task: Task, submission: Submission) -> Findings:
        return self._verdicts[0].findings

    def verify(self, task: Task, submission: Submission, *, check: str = "values") -> Findings:
        return self._verdicts[0].findings

    def judge(self, task: Task, submission: Submission, *, counters: bool = False) -> Verdict:
        return replace(self._random.choice(self._verdicts), submission=submission.hash)

    def close(self) -> None:
        """Nothing is open."""


def real_verdicts(task: Task, files: Submission, count: int) -> list[Verdict]:
    """Verdicts of one kernel, scaled so that their mean speed-up is 1.00."""
    judge = Judge(Device("cpu"))
    try:
        verdicts = [judge.judge(task, files) for _ in range(count + 1)][1:]
    finally:
        judge.close()
    timings = [verdict.timing for verdict in verdicts if verdict.timing is not None]
    mean = statistics.fmean(timing.speedup for timing in timings)
    right = [verdict for verdict in verdicts if verdict.timing is not None]
    return [
        replace(verdict, timing=replace(timing, speedup=timing.speedup / mean))
        for verdict, timing in zip(right, timings, strict=True)
    ]


def mean_return(
    task: Task, files: Submission, verdicts: list[Verdict], *, profiles: int, episodes: int
) -> float:
    """The mean return of episodes that profile so often and then submit."""
    returns = []
    writes = "".join(f"```cuda file={path}\n{text}```\n" for path, text in files.files)
    for episode in range(episodes):
        judge = ResamplingJudge(verdicts, seed=episode * 1000 + profiles)
        session = Session(task, judge, max_turns=profiles + 2)
        session.reset()
        session.step(writes)
        for _ in range(profiles):
            session.step(CALL % "profile")
        session.step(CALL % "submit")
        returns.append(session.episode("").total_reward)
        session.close()
    return statistics.fmean(returns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="record the figures")
    parser.add_argument("--verdicts", type=int, default=40)
    parser.add_argument("--episodes", type=int, default=2000)
    arguments = parser.parse_args()
    task = load_task(TASK)
    folder = Path(str(resources.files("cuda_gym.agents") / "solutions" / TASK.split("/")[1]))
    paths = [path for path in folder.rglob("*") if path.suffix in {".py", ".cu"}]
    files = Submission.of({str(p.relative_to(folder)): p.read_text() for p in paths})
    verdicts = real_verdicts(task, files, arguments.verdicts)
    spread = statistics.stdev(v.speedup for v in verdicts if v.speedup is not None)
    once, often = (
        mean_return(task, files, verdicts, profiles=count, episodes=arguments.episodes)
        for count in (1, 20)
    )
    text = (
        f"# Noise fishing\n\n{datetime.datetime.now(tz=datetime.UTC).date()}, "
        f"{telemetry.cpu_name()}, {telemetry.num_cores()} cores. By `benchmarks/noise_fishing.py`: "
        f"{len(verdicts)} real Verdicts of {TASK}, scaled to 1.00x, resampled into "
        f"{arguments.episodes} episodes each.\n\n"
        "| what | figure |\n|---|---|\n"
        f"| standard deviation of the Verdicts | {spread:.1%} |\n"
        f"| mean return, profiled once | {once:.4f} |\n"
        f"| mean return, profiled 20 times | {often:.4f} |\n"
        f"| gained by profiling again | {often / once - 1:+.2%} |\n"
    )
    print(text)
    if arguments.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
