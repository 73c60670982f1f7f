"""Under which conditions a Verdict holds, and what keeps it from a leaderboard."""

from __future__ import annotations

from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.core.verdict import JUDGE_VERSION, Fingerprint, Telemetry, Timing

__all__ = ["CLOSED_CODE", "READ_OUTPUTS", "fingerprint_of", "isolation_of", "why_unranked"]

CLOSED_CODE = "closed-code"
"""The wall around what computes for torch; where it stands, the judge has looked at it from outside."""
READ_OUTPUTS = "read-outputs"
"""On `cpu`: nobody's copies are under the judge's clock, for outputs are read from a process that stands still."""
_FULL_ISOLATION = frozenset({"user", "pid", "network", "mount", "seccomp"})


def isolation_of(walls: str, task: Task, *, closes_code: bool, reads_outputs: bool = False) -> str:
    """What stands between a submission and the machine, and between it and torch.

    Args:
        walls: The former, joined by `+`.
        task: One that allows library calls closes nothing: they compute by the same code.
        closes_code: Whether candidates here close what computes for torch.
        reads_outputs: Whether outputs of timed calls are read from outside.
    """
    words = {CLOSED_CODE: closes_code and not task.library, READ_OUTPUTS: reads_outputs}
    return "+".join((walls, *(word for word, holds in words.items() if holds)))


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
    isolation: str,
    timing: Timing | None,
    telemetry: Telemetry | None = None,
    *,
    task: Task | None = None,
    device: Device | None = None,
) -> str | None:
    """What is missing between the submission and the machine, or between the machine and quiet.

    Args:
        isolation: What there is.
        timing: Of the race, where there was one.
        telemetry: Of a GPU.
        task: What was asked for; None closes no code.
        device: Where; on a GPU no code is closed, and other clocks are believed.
    """
    due = set(_FULL_ISOLATION)
    if task is not None and device is not None and device.kind == "cpu":
        due |= {READ_OUTPUTS} if task.library else {READ_OUTPUTS, CLOSED_CODE}
    missing = sorted(due - set(isolation.split("+")))
    if missing:
        return f"isolation lacks {', '.join(missing)}"
    if timing is not None and not timing.steady:
        return f"other processes took the cores during {timing.num_disturbed} pairs of blocks"
    if timing is not None and timing.num_disturbed > timing.num_blocks:  # perhaps of its own choice
        return f"{timing.num_disturbed} pairs of blocks were disturbed, and only {timing.num_blocks} were not"
    if timing is not None and timing.num_left_out:
        return f"memory did not bear {timing.num_left_out} hidden draws among the timed calls"
    if telemetry is not None and telemetry.num_other_processes:
        return f"{telemetry.num_other_processes} other processes used the GPU"
    return None
