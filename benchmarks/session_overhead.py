"""What an episode costs outside the judge: import, reset, step.

    python benchmarks/session_overhead.py [--write]

The judge here answers at once and always the same, so that nothing but the session is measured.
Import is the median over fresh processes. `--write` records the figures beside this file.
"""

# ruff: noqa: ARG002 (a judge that answers at once looks at nothing)

from __future__ import annotations

import argparse
import datetime
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Findings, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Timing, Verdict
from cuda_gym.envs.actions import ToolCall, format_action
from cuda_gym.envs.cuda_kernel_env import CudaKernelEnv
from cuda_gym.tasks.registry import load_task

RESULTS = Path(__file__).parent / "results" / "session_overhead.md"
KERNEL = "// a kernel of ordinary length\n" + "float a = b * c + d;\n" * 200
IMPORT_LIMIT_MS = 300.0
RESET_LIMIT_MS = 50.0
STEP_LIMIT_MS = 2.0


class InstantJudge:
    """Answers at once: right, and as fast as torch.compile."""

    device = Device.parse("cpu")

    def warm(self, task: Task) -> None:
        """Prepare nothing."""

    def compile(self, task: Task, submission: Submission) -> Findings:
        return Findings(outcome=None, summary="It compiles.")

    def verify(self, task: Task, submission: Submission, *, check: str = "values") -> Findings:
        return Findings(outcome=Outcome.CORRECT, summary="Right.")

    def judge(self, task: Task, submission: Submission, *, counters: bool = False) -> Verdict:
        timing = Timing(
            time_us=10.0,
            compile_us=10.0,
            speedup=1.0,
            speedup_low=0.99,
            speedup_high=1.01,
            num_blocks=8,
            num_calls=100,
            timer="none",
        )
        return Verdict(
            outcome=Outcome.CORRECT,
            task_id=task.id,
            submission=submission.hash,
            device="cpu",
            findings=self.verify(task, submission),
            fingerprint=None,
            timing=timing,
        )

    def close(self) -> None:
        """Nothing is open."""


def milliseconds(action: Callable[[], object], *, times: int) -> list[float]:
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        spent.append((time.perf_counter() - start) * 1e3)
    return spent


def import_times(module: str) -> list[float]:
    """Each in a fresh interpreter, whose own start is not counted."""
    code = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", code]
    return [
        float(subprocess.run(command, capture_output=True, check=True).stdout) * 1e3
        for _ in range(9)
    ]


def rows() -> list[tuple[str, list[float], float]]:
    """What, how long each time, and at most how long."""
    task = load_task("core/softmax")

    def first_reset() -> None:
        env = CudaKernelEnv(judge=InstantJudge(), task=task)
        env.reset()
        env.close()

    env = CudaKernelEnv(judge=InstantJudge(), task=task, max_turns=1000)
    measured = [
        ("import gymnasium (a part of the next)", import_times("gymnasium"), IMPORT_LIMIT_MS),
        ("import cuda_gym", import_times("cuda_gym"), IMPORT_LIMIT_MS),
        ("make, first reset, close", milliseconds(first_reset, times=50), RESET_LIMIT_MS),
        ("reset", milliseconds(env.reset, times=50), RESET_LIMIT_MS),
    ]
    actions = {
        "step: write two files": format_action({"kernels/a.cu": KERNEL, "model_new.py": "x = 1\n"}),
        "step: read_file": format_action(call=ToolCall("read_file", {"path": "model.py"})),
        "step: compile": format_action(call=ToolCall("compile")),
        "step: profile": format_action(call=ToolCall("profile")),
        "step: unreadable text": "hello " * 100,
    }
    for name, text in actions.items():
        env.reset()
        measured.append(
            (name, milliseconds(lambda text=text: env.step(text), times=200), STEP_LIMIT_MS)  # type: ignore[misc]
        )
    env.close()
    return measured


def report() -> str:
    """The figures as Markdown."""
    lines = [
        "# Session overhead",
        "",
        f"{datetime.date.today()}, {os.cpu_count()} cores ({platform.machine()}), Python "
        f"{platform.python_version()}, gymnasium {metadata.version('gymnasium')}, pydantic "
        f"{metadata.version('pydantic')}; load {os.getloadavg()[0]:.1f}. By "
        "`benchmarks/session_overhead.py`; the judge answers at once.",
        "",
        "| what | median | 95th percentile | at most |",
        "|---|---|---|---|",
    ]
    for name, spent, limit in rows():
        late = sorted(spent)[int(0.95 * (len(spent) - 1))]
        lines.append(
            f"| {name} | {statistics.median(spent):.2f} ms | {late:.2f} ms | {limit:.0f} ms |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="record the figures")
    write = parser.parse_args().write
    text = report()
    if write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
