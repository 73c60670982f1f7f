"""What a judge leaves on the machine while it lives, and must not leave afterwards."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
import time
from collections import Counter
from pathlib import Path

from cuda_gym.judge.sandbox.limits import descendants

_GONE_S = 10.0


def children(pid: int) -> list[int]:
    """Processes that a process has started itself, oldest first."""
    below = descendants(pid)
    return sorted(set(below) - {p for child in below for p in descendants(child)})


def traces(*, folders: bool = True) -> Counter[str]:
    """Processes below this one, its open descriptors, temporary folders and locks that are held, by kind.

    Args:
        folders: Whether to look at the temporary folder, too: not where others use it.
    """
    found: Counter[str] = Counter()
    for pid in descendants(os.getpid()):
        found[f"process {_command(pid)}"] += 1
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:  # the listing's own
            continue
        if not target.startswith(("/proc/", "/dev/")):
            found[f"descriptor {re.sub(r'[0-9]+', 'N', target)}"] += 1
    if not folders:
        return found
    for path in Path(tempfile.gettempdir()).iterdir():
        if not path.name.startswith(
            "torchinductor_"
        ):  # headers that torch keeps for its next compilation
            found[f"folder {re.sub(r'-.*', '', path.name)}"] += 1
    found["lock held"] = sum(map(_is_held, Path(tempfile.gettempdir()).glob("*/*.lock")))
    return +found


def require_as_before(before: Counter[str], *, folders: bool = True) -> None:
    """Fail unless the traces are soon those of before, or fewer."""
    deadline = time.monotonic() + _GONE_S
    while (more := traces(folders=folders) - before) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not more, f"left behind: {dict(more)}"


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "that has just ended"
    return next((w.decode() for w in words if w.startswith(b"cuda_gym.")), words[0].decode())


def _is_held(lock: Path) -> bool:
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
