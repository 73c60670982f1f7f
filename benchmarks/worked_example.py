"""What each step of the skill `worked_example` gains on `cpu`.

    python benchmarks/worked_example.py [--write]

Every step is judged three times against the same task, and the middle Verdict counts. `--write` puts the
table into `results/worked_example.md` and into the skill's page, so that both say the same.
"""

from __future__ import annotations

import argparse
import datetime
import re
from pathlib import Path

from cuda_gym.agents.scripted import load_solution
from cuda_gym.core.device import Device
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Timing
from cuda_gym.judge.judge import Judge
from cuda_gym.judge.profiling import telemetry
from cuda_gym.tasks.registry import load_task

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "worked_example.md"
PAGE = ROOT / "src" / "cuda_gym" / "skills" / "worked_example" / "SKILL.md"
FOLDER = ROOT / "tests" / "skills" / "worked_example"
TASK = "core/rmsnorm_residual"
STEPS = (
    "right: two kernels, 1024 threads a block",
    "64 threads a block",
    "one kernel: the sum is computed twice, not stored",
    "32 partial sums side by side instead of one",
    "tried: the sum kept in `out`; taken back",
)
HEADER = "| step | what | time | times as fast as torch.compile |\n|---|---|---|---|\n"


def submission(number: int) -> Submission:
    """The files of a step."""
    kernels = (FOLDER / f"step{number}.cu").read_text("utf-8")
    model = load_solution(TASK)["model_new.py"]
    return Submission.of({"model_new.py": model, "kernels/rmsnorm_residual.cu": kernels})


def timed(judge: Judge, task: Task, number: int) -> Timing:
    """The middle one of three timings."""
    judge.judge(task, submission(number))
    timings = [judge.judge(task, submission(number)).timing for _ in range(3)]
    return sorted((t for t in timings if t is not None), key=lambda t: t.speedup)[1]


def table(judge: Judge) -> str:
    """One row a step."""
    task = load_task(TASK)
    rows = []
    for number, what in enumerate(STEPS, start=1):
        timing = timed(judge, task, number)
        rows.append(f"| {number} | {what} | {timing.time_us:,.0f} us | {timing.speedup:.2f} |\n")
        print(rows[-1], end="", flush=True)
    return HEADER + "".join(rows)


def with_table(page: str, new: str) -> str:
    """The page with its table of steps replaced."""
    return re.sub(re.escape(HEADER) + r"(?:\|[^\n]*\n)*", lambda _: new, page, count=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    judge = Judge(Device("cpu"))
    try:
        measured = table(judge)
    finally:
        judge.close()
    cpu = telemetry.read_cpu()
    text = (
        "# The steps of the skill `worked_example`\n\n"
        f"{datetime.date.today()}, {telemetry.num_cores()} cores, load {cpu.load or 0.0:.2f}, task "
        f"{TASK}. By `benchmarks/worked_example.py`: the middle one of three Verdicts each.\n\n{measured}"
    )
    if arguments.write:
        RESULTS.write_text(text, "utf-8")
        PAGE.write_text(with_table(PAGE.read_text("utf-8"), measured), "utf-8")


if __name__ == "__main__":
    main()
