"""What `doctor` tries: every wall is put up in a child, and then run against.

Covered: each namespace by an identity of its own and by an act that must now fail, the seccomp
filter by a fork, the limits by what goes beyond them, hidden memory by a sibling under the same uid
that tries to read it, memory that only its owner may write, the counters of the kernel for disturbed
timings, the device lock. A wall counts where it holds, not where a call said that it was taken.

Not covered: what a real submission does behind the walls; the tests of the sandbox attack those.

All but seals and counters is tried by `break_out`, in a process of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum, unique
from pathlib import Path
from typing import Any

from cuda_gym.core.device import Device
from cuda_gym.judge.profiling.memory_seals import seals_future_writes
from cuda_gym.judge.profiling.telemetry import PRESSURE, counts_waiting
from cuda_gym.judge.profiling.timing_plan import CPU_PLAN, REMAPPING_CPU_PLAN
from cuda_gym.judge.sandbox.break_out import NAMESPACES
from cuda_gym.judge.sandbox.limits import MAX_FILE_BYTES

__all__ = [
    "Check",
    "CheckState",
    "closed_code_check",
    "limits_check",
    "probe_device_lock",
    "probe_pressure",
    "probe_walls",
    "read_outputs_check",
    "seals_check",
]

_DEADLINE_S = 45.0
_UNRANKED = "Verdicts made here train agents, but a leaderboard does not rank them"


@unique
class CheckState(Enum):
    """How a check came out."""

    OK = "ok"
    """It works."""
    DEGRADED = "degraded"
    """Episodes can be played, with less protection or less precision."""
    MISSING = "missing"
    """It is not there."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was tried on this machine."""

    what: str
    state: CheckState
    fact: str
    """What was found: a version, a number, what happened."""
    remedy: str = ""
    """What to do about it; empty where nothing is to be done."""
    is_needed: bool = False
    """Whether no episode can be played without it."""


def probe_walls() -> tuple[Check, ...]:
    """Put up every wall around a candidate in a child, and run against it."""
    found = _in_a_fresh_process()
    walls = found.get("walls", {})
    return (
        *(_namespace_check(name, walls.get(name, "was not tried")) for name in NAMESPACES),
        _seccomp_check(walls.get("seccomp", "was not tried")),
        limits_check(found.get("limits", "was not tried")),
        _memory_check(found.get("hidden", "was not tried"), found.get("open", "")),
    )


def probe_pressure(counter: Path = PRESSURE) -> Check:
    """Whether the kernel counts how long threads wait for a core.

    Args:
        counter: Where it tells that.
    """
    what = "pressure counters"
    if counts_waiting(counter):
        fact = "disturbed pairs of timing blocks are recognised"
        return Check(what=what, state=CheckState.OK, fact=fact)
    return Check(
        what=what,
        state=CheckState.DEGRADED,
        fact=f"{counter} tells nothing; disturbed timings are not recognised, and the timer of a "
        "Verdict says so",
        remedy="Time on an idle machine, or boot a kernel that has PSI with psi=1.",
    )


def seals_check(*, writes_again: bool | None = None) -> Check:
    """Whether inputs that were handed out can be written again, by none but their owner.

    Args:
        writes_again: Whether Linux lets an owner do so; None tries it.
    """
    what = "sealed inputs"
    if seals_future_writes() if writes_again is None else writes_again:
        fact = "only their owner writes to inputs that are handed out"
        return Check(what=what, state=CheckState.OK, fact=fact)
    return Check(
        what=what,
        state=CheckState.DEGRADED,
        fact="nobody writes to them, not their owner either: new memory for each block; what a submission "
        f"hides of its time shows from {REMAPPING_CPU_PLAN.hidden_us:g} us a call on, not from "
        f"{CPU_PLAN.hidden_us:g}, and the transport of a Verdict says so",
        remedy="Use Linux 5.12 or newer, and no sandbox that imitates an older one.",
    )


def probe_device_lock(device: Device, folder: Path | None = None) -> Check:
    """Whether this process could time on the device at once.

    Args:
        device: Whose lock.
        folder: Where it lies; None is where judges keep it.
    """
    what = f"lock of {device}"
    found = _in_a_fresh_process(str(device), *([] if folder is None else [str(folder)]))
    answer = found.get("lock", "was not tried")
    if answer == "free":
        return Check(what=what, state=CheckState.OK, fact="free")
    fact = "in use by another process" if answer == "did not end" else answer
    return Check(
        what=what,
        state=CheckState.DEGRADED,
        fact=fact,
        remedy="Judgements wait their turn; end the other run, or be patient.",
    )


def limits_check(answer: str) -> Check:
    """What a candidate could do beyond its limits.

    Args:
        answer: `holds`, or what it could.
    """
    if answer == "holds":
        return Check(
            what="limits",
            state=CheckState.OK,
            fact=f"memory beyond a share, files beyond {MAX_FILE_BYTES >> 20} MiB and core dumps are "
            "refused, and no limit can be lifted",
        )
    return Check(
        what="limits",
        state=CheckState.DEGRADED,
        fact=f"{answer}. A submission may fill this machine's memory or disk",
        remedy="Bound both from outside (a container's limits), or use a Linux that enforces setrlimit.",
    )


def closed_code_check(*, closes_code: bool) -> Check:
    """What a judge on `cpu` has found when it ran its first submission.

    Args:
        closes_code: Whether it closed what computes for torch, and went on without it.
    """
    what = "closed code"
    if closes_code:
        fact = (
            "a submission cannot run what computes for torch, past its table of operators, either"
        )
        return Check(what=what, state=CheckState.OK, fact=fact)
    return Check(
        what=what,
        state=CheckState.DEGRADED,
        fact=f"what computes for this build of torch was not found, or nothing works without it. {_UNRANKED}",
        remedy="Install torch from PyPI, on x86_64 or aarch64.",
    )


def read_outputs_check(*, reads_outputs: bool) -> Check:
    """What a judge on `cpu` has found when it ran its first submission.

    Args:
        reads_outputs: Whether it may look into the memory of one that stands still.
    """
    what = "read outputs"
    if reads_outputs:
        fact = "outputs are read from a process that stands still: no copy of a submission is timed"
        return Check(what=what, state=CheckState.OK, fact=fact)
    return Check(
        what=what,
        state=CheckState.DEGRADED,
        fact=f"/proc/PID/mem of a candidate may not be read, so that it copies its outputs. {_UNRANKED}",
        remedy="sudo sysctl -w kernel.yama.ptrace_scope=1; in a container, allow ptrace: --cap-add=SYS_PTRACE.",
    )


# What the answers mean


def _namespace_check(name: str, answer: str) -> Check:
    if answer == "holds":
        return Check(what=f"namespace {name}", state=CheckState.OK, fact=_HELD[name])
    return Check(
        what=f"namespace {name}",
        state=CheckState.DEGRADED,
        fact=f"{answer}. {_UNRANKED}",
        remedy=_namespace_remedy(),
    )


_HELD = {
    "user": "a candidate has no privileges outside its own",
    "pid": "a candidate is process 1, sees and signals nobody",
    "network": "connecting fails: the network is unreachable",
    "ipc": "a candidate shares no message queues or semaphores",
    "mount": "all is read-only but a private folder",
}


def _namespace_remedy() -> str:
    """The one setting that stands in the way, where the kernel shows it."""
    for path, forbids, setting in (
        ("/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces=10000"),
        ("/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ):
        with contextlib.suppress(OSError):
            if Path(path).read_text(encoding="utf-8").strip() == forbids:
                return f"sudo sysctl -w {setting}"
    return "In a container, allow unshare and mount: --security-opt seccomp=unconfined."


def _seccomp_check(answer: str) -> Check:
    if answer == "holds":
        return Check(what="seccomp", state=CheckState.OK, fact="fork and exec fail with EPERM")
    return Check(
        what="seccomp",
        state=CheckState.DEGRADED,
        fact=f"{answer}. {_UNRANKED}",
        remedy="Use a kernel with CONFIG_SECCOMP_FILTER on x86_64 or aarch64.",
    )


def _memory_check(hidden: str, unhidden: str) -> Check:
    what = "hidden memory"
    if hidden == "refused":
        told = (
            "one that did not hide was read, so the attempt was real"
            if unhidden == "read"
            else "this kernel refuses it even for one that did not hide"
        )
        return Check(
            what=what,
            state=CheckState.OK,
            fact=f"a sibling that reads /proc/PID/mem is refused; {told}",
        )
    fact = "a sibling read the secret" if hidden == "read" else f"the attempt {hidden}"
    return Check(
        what=what,
        state=CheckState.DEGRADED,
        fact=f"{fact} through /proc/PID/mem. Do not trust Verdicts made here",
        remedy="sudo sysctl -w kernel.yama.ptrace_scope=1, or run where PR_SET_DUMPABLE works.",
    )


def _in_a_fresh_process(*arguments: str) -> dict[str, Any]:
    """The answers of `break_out`; none where it said nothing in time."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    environment = {
        **kept,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "LANG": "C.UTF-8",
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "cuda_gym.judge.sandbox.break_out", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DEADLINE_S,
            check=False,
        )
        answers: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, OSError, ValueError):
        return {}
    return answers
