"""Runs against the walls of a candidate, in a process of its own: what `probes` starts.

    python -m cuda_gym.judge.sandbox.break_out                 tries every wall
    python -m cuda_gym.judge.sandbox.break_out cpu [FOLDER]    tries the lock of a device

It prints JSON: by wall, `holds`, or in words what happened. The process has one thread, as new
namespaces demand; what is tried is tried in children of it, each with a deadline.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import mmap
import os
import resource
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cuda_gym.core.device import Device
from cuda_gym.judge.sandbox import limits
from cuda_gym.judge.sandbox.device_lock import DeviceLock

__all__ = ["NAMESPACES"]

NAMESPACES = ("user", "pid", "network", "ipc", "mount")
"""The namespaces of a candidate, by the names that a fingerprint has for them."""

_KINDS = {"user": "user", "pid": "pid", "network": "net", "ipc": "ipc", "mount": "mnt"}
_SECRET = b"the seed of a hidden draw"
_SHARE_BYTES = 64 << 20
"""Of memory, for what is tried: any share is enforced alike."""
_LIMITED = (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE)


def main() -> None:
    """Entry point: try the walls, or the lock of a named device; print the answers as JSON."""
    if sys.argv[1:]:
        device, *folder = sys.argv[1:]
        lock = DeviceLock(Device.parse(device), Path(folder[0]) if folder else None)
        answers: dict[str, Any] = {"lock": _attempt(lambda: _take(lock), patience_s=1.0)}
    else:
        walls = _attempt(_run_against_walls)
        answers = {
            "walls": json.loads(walls) if walls.startswith("{") else {},
            "limits": _attempt(_run_against_limits),
            "hidden": _attempt(lambda: _attack_sibling(is_hidden=True)),
            "open": _attempt(lambda: _attack_sibling(is_hidden=False)),
        }
    sys.stdout.write(json.dumps(answers))


def _take(lock: DeviceLock) -> str:
    with lock.exclusive():
        return "free"


def _attempt(act: Callable[[], str], *, patience_s: float = 8.0) -> str:
    """What `act` returns in a forked child, or in words how that failed."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        answer = "ended early"
        try:
            limits.die_with_parent()
            answer = act()
        except OSError as error:
            answer = f"failed: {error.strerror}"
        finally:
            os.write(writing, answer.encode())
            os._exit(0)
    os.close(writing)
    os.set_blocking(reading, False)
    deadline, told = time.monotonic() + patience_s, b""
    while time.monotonic() < deadline and not told:
        if os.waitpid(child, os.WNOHANG)[0] == child:
            child = 0
        with contextlib.suppress(BlockingIOError):
            told = os.read(reading, 1 << 16)
        if child == 0:
            break
        time.sleep(0.005)
    os.close(reading)
    if child:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return told.decode() or ("did not end" if child else "ended without an answer")


def _run_against_walls() -> str:
    """As a warden: enter the namespaces, fork the candidate into them."""
    outside = {name: _identity(name) for name in NAMESPACES}
    with tempfile.TemporaryDirectory(prefix="cuda_gym-") as folder:
        limits.hide_memory(False)
        limits.enter_namespaces()
        answer = _attempt(lambda: _as_candidate(Path(folder), outside))
    return answer if answer.startswith("{") else json.dumps({"seccomp": answer})


def _as_candidate(folder: Path, outside: dict[str, str]) -> str:
    """As a candidate: put up the rest, then run against each; by wall, `holds` or what happened."""
    limits.enclose(folder, fresh_proc=True)
    limits.drop_privileges()
    answers = {name: _is_own(name, outside) for name in NAMESPACES}
    acts: dict[str, Callable[[], str]] = {
        "pid": _sees_itself_first,
        "network": _connects,
        "mount": lambda: _writes_beside(folder),
    }
    for name, act in acts.items():
        if answers[name] == "holds":
            answers[name] = act()
    limits.forbid_processes()
    answers["seccomp"] = _forks()
    return json.dumps(answers)


def _identity(name: str) -> str:
    return os.readlink(f"/proc/self/ns/{_KINDS[name]}")  # noqa: PTH115 (it is no path)


def _is_own(name: str, outside: dict[str, str]) -> str:
    return "not to be had" if _identity(name) == outside[name] else "holds"


def _sees_itself_first() -> str:
    return "holds" if os.getpid() == 1 else f"a candidate is process {os.getpid()}, not 1"


def _connects() -> str:
    """To an address that is reserved for documentation: nothing is sent where it is refused."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        try:
            end.connect(("192.0.2.1", 9))
        except OSError as error:
            return "holds" if error.errno == errno.ENETUNREACH else f"{error.strerror}"
    return "a candidate reaches the network"


def _writes_beside(folder: Path) -> str:
    beside = folder.parent / f"{folder.name}.beside"
    try:
        beside.write_bytes(b"")
    except OSError as error:
        if error.errno != errno.EROFS:
            return f"writing beside the private folder failed: {error.strerror}"
    else:
        beside.unlink()
        return "a candidate writes outside its folder"
    (folder / "mine").write_bytes(b"")
    return "holds"


def _forks() -> str:
    try:
        child = os.fork()
    except PermissionError:
        return "holds"
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "a candidate starts processes"


def _run_against_limits() -> str:
    """As a warden: a folder for what is written, and for a core that should not be."""
    with tempfile.TemporaryDirectory(prefix="cuda_gym-") as folder:
        os.chdir(folder)
        limits.hide_memory(False)  # of one that is hidden there is no core in any case
        return _attempt(_as_limited)


def _as_limited() -> str:
    """As a candidate: `holds`, or which limit does not."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))  # a shell's own is often 0
    limits.limit_resources(_SHARE_BYTES)
    limits.drop_privileges()
    acts = (_maps_beyond_its_share, _writes_beyond_a_file, _leaves_a_core, _lifts_a_limit)
    return "; ".join(failed for act in acts if (failed := act()) != "holds") or "holds"


def _maps_beyond_its_share() -> str:
    try:
        mmap.mmap(-1, _SHARE_BYTES + mmap.PAGESIZE).close()
    except OSError as error:
        return "holds" if error.errno == errno.ENOMEM else f"mapping memory: {error.strerror}"
    return "a candidate takes more memory than its share"


def _writes_beyond_a_file() -> str:
    """One byte behind the largest file: where that is let pass, the file is a hole but for it."""
    with Path("large").open("wb", buffering=0) as file:
        try:
            os.pwrite(file.fileno(), b"x", limits.MAX_FILE_BYTES)
        except OSError as error:
            return "holds" if error.errno == errno.EFBIG else f"a large file: {error.strerror}"
    return f"a candidate writes files of more than {limits.MAX_FILE_BYTES >> 20} MiB"


def _leaves_a_core() -> str:
    """By a crash, unless this machine puts cores elsewhere, or hands them to a program that is told of the limit."""
    written = "a candidate that crashes leaves a core"
    if Path("/proc/sys/kernel/core_pattern").read_bytes().startswith((b"|", b"/")):
        return "holds" if resource.getrlimit(resource.RLIMIT_CORE) == (0, 0) else written
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGABRT, signal.SIG_DFL)
        os.abort()
    return written if os.WCOREDUMP(os.waitpid(child, 0)[1]) else "holds"


def _lifts_a_limit() -> str:
    for limit in _LIMITED:
        _, hard = resource.getrlimit(limit)
        if hard == resource.RLIM_INFINITY:
            return "a limit is not set"
        try:
            resource.setrlimit(limit, (hard + 1, hard + 1))
        except (OSError, ValueError):
            continue
        return "a candidate lifts a limit"
    return "holds"


def _attack_sibling(*, is_hidden: bool) -> str:
    """A sibling under our uid holds a secret; read it like a candidate without walls would."""
    secret = ctypes.create_string_buffer(_SECRET)
    reading, writing = os.pipe()
    victim = os.fork()
    if victim == 0:
        limits.die_with_parent()
        limits.drop_privileges()  # root's capabilities would be a wall of their own
        limits.hide_memory(is_hidden)
        os.write(writing, b"!")
        signal.pause()
        os._exit(0)
    os.read(reading, 1)
    attempt = _attempt(lambda: _read_memory(victim, ctypes.addressof(secret)))
    os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)
    return attempt


def _read_memory(victim: int, address: int) -> str:
    limits.drop_privileges()
    ctypes.memset(address, 0, len(_SECRET))
    try:
        with Path(f"/proc/{victim}/mem").open("rb", buffering=0) as memory:
            memory.seek(address)
            found = memory.read(len(_SECRET))
    except PermissionError:
        return "refused"
    return "read" if found == _SECRET else "found nothing"


if __name__ == "__main__":
    main()
