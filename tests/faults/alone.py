"""Starts `judge_alone`, listens to it, and sees what is left of it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cuda_gym.judge.sandbox.limits import descendants

_PATIENCE_S = 60.0


@contextlib.contextmanager
def judging_alone(
    cache: Path, folder: Path, *steps: str
) -> Iterator[tuple[subprocess.Popen[str], Callable[[str], str]]]:
    """A judge in a process of its own, and a function that waits for a line that begins so."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.judge_alone", str(cache), *steps],
        env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )

    def line(begin: str) -> str:
        assert process.stdout is not None
        for said in process.stdout:
            if said.startswith(begin):
                return said
        raise AssertionError(f"it ended without having said {begin!r}")

    try:
        yield process, line
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def outcomes(cache: Path, folder: Path, *steps: str) -> list[str]:
    """What came of each step that judges."""
    with judging_alone(cache, folder, *steps) as (process, _):
        said, _ = process.communicate(timeout=2 * _PATIENCE_S)
    words = [line.split() for line in said.splitlines()]
    return [outcome for _, outcome, *_ in words if outcome not in ("begins", "done")]


def kill_with_traces(process: subprocess.Popen[str]) -> None:
    """Kill a judge; fail unless all that it had started is soon gone."""
    below = descendants(process.pid)
    process.kill()
    process.wait()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not reached():
        assert time.monotonic() < deadline, "it never came so far"
