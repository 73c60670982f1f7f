"""Under which conditions a Verdict holds, and what keeps it from a leaderboard."""

from __future__ import annotations

from cuda_gym.core.task import Task
from cuda_gym.core.verdict import JUDGE_VERSION, Fingerprint, Timing
from cuda_gym.judge.profiling import telemetry
from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.protocol import Loaded

__all__ = ["fingerprint_of", "why_unranked"]

_FULL_ISOLATION = frozenset({"user", "pid", "network", "mount", "seccomp"})


def fingerprint_of(
    task: Task, loaded: Loaded, *, num_threads: int, toolchain: str, torch: str
) -> Fingerprint:
    """What must be equal where two Verdicts are compared.

    Args:
        task: What was asked for.
        loaded: What the candidate said of its isolation.
        num_threads: Of both sides of the race.
        toolchain: Its name and version.
        torch: The version that the reference ran with.
    """
    return Fingerprint(
        judge=JUDGE_VERSION,
        task=task.hash,
        device=f"{telemetry.cpu_name()}, {num_threads} threads",
        toolchain=toolchain,
        torch=torch,
        compile_mode="default",
        timer="wall",
        transport=transport.NAME,
        isolation=loaded.isolation,
    )


def why_unranked(loaded: Loaded, timing: Timing | None) -> str | None:
    """What is missing between the submission and the machine, or between the machine and quiet."""
    missing = sorted(_FULL_ISOLATION - set(loaded.isolation.split("+")))
    if missing:
        return f"isolation lacks {', '.join(missing)}"
    if timing is not None and not timing.steady:
        return f"other processes took the cores during {timing.num_disturbed} pairs of blocks"
    return None
