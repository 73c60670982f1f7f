"""Under which conditions a Verdict holds, and what keeps it from a leaderboard."""

from __future__ import annotations

from cuda_gym.core.task import Task
from cuda_gym.core.verdict import JUDGE_VERSION, Fingerprint, Telemetry, Timing

__all__ = ["fingerprint_of", "why_unranked"]

_FULL_ISOLATION = frozenset({"user", "pid", "network", "mount", "seccomp"})


def fingerprint_of(
    task: Task,
    *,
    isolation: str,
    device: str,
    toolchain: str,
    torch: str,
    timer: str,
    transport: str,
) -> Fingerprint:
    """What must be equal where two Verdicts are compared.

    Args:
        task: What was asked for.
        isolation: What stood between the submission and the machine.
        device: Name of the hardware, and what decides how fast it is.
        toolchain: Its name and version.
        torch: The version that the reference ran with.
        timer: Name of the clock.
        transport: How contents came to the candidate.
    """
    return Fingerprint(
        judge=JUDGE_VERSION,
        task=task.hash,
        device=device,
        toolchain=toolchain,
        torch=torch,
        compile_mode="default",
        timer=timer,
        transport=transport,
        isolation=isolation,
    )


def why_unranked(
    isolation: str, timing: Timing | None, telemetry: Telemetry | None = None
) -> str | None:
    """What is missing between the submission and the machine, or between the machine and quiet."""
    missing = sorted(_FULL_ISOLATION - set(isolation.split("+")))
    if missing:
        return f"isolation lacks {', '.join(missing)}"
    if timing is not None and not timing.steady:
        return f"other processes took the cores during {timing.num_disturbed} pairs of blocks"
    if telemetry is not None and telemetry.num_other_processes:
        return f"{telemetry.num_other_processes} other processes used the GPU"
    return None
