"""Where walls cannot be had, candidates live without them and say so; a script sits in their place."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest

from cuda_gym.judge.sandbox import zygote
from cuda_gym.judge.sandbox.channel import Channel, Drain
from cuda_gym.judge.sandbox.messages import Born, Ended, Fork, Open, Opened, Ready

PROGRAM = """
import contextlib, ctypes, errno, json, os, signal, socket, sys, types
from cuda_gym.judge.sandbox import limits, zygote
from cuda_gym.judge.sandbox.channel import Channel
from cuda_gym.judge.sandbox.messages import Open, Opened, Ready

def can_signal(pid):
    try:
        os.kill(pid, 0)
    except OSError as error:
        return errno.errorcode[error.errno]
    return True

def serve(channel, *, isolation):
    channel.receive(Open)  # nobody may speak before his warden has announced him
    with contextlib.suppress(OSError):
        numbers = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
        own = os.readlink("/proc/self")
    open("written", "w").write("a private folder")
    seen = {"isolation": isolation, "numbers": numbers, "own": own, "pid": os.getpid(),
            "signals": can_signal(JUDGE), "signals_itself": can_signal(os.getpid()), "threads": 0}
    try:
        open("/proc/self/mem", "r+b").close()
        seen["own_code"] = True
    except OSError as error:
        seen["own_code"] = errno.errorcode[error.errno]
    import threading
    thread = threading.Thread(target=lambda: seen.update(threads=1))
    thread.start(); thread.join()
    channel.send(Opened(trouble=json.dumps(seen)))

script = types.ModuleType("script")
script.serve = serve
sys.modules["cuda_gym.judge.sandbox.candidate_loop"] = script
ABSENT
channel = Channel(socket.socket(fileno=int(sys.argv[1])))
channel.send(Ready(torch="", threads=1))
zygote.Zygote(channel).serve()
"""
NO_NAMESPACES = "limits._libc.unshare = lambda flags: -1"
NO_PROC = "limits._mount_proc = lambda **flags: False"
NO_FILTER = "limits._SECCOMP = {}"


def forked(absent: str, *, needs_proc: bool) -> dict[str, Any]:
    """What a candidate sees whose zygote lacks something."""
    ours, theirs = Channel.pair()
    program = PROGRAM.replace("ABSENT", absent).replace("JUDGE", str(os.getpid()))
    with theirs, subprocess.Popen(
        [sys.executable, "-c", program, str(theirs.fileno())], pass_fds=[theirs.fileno()]
    ), contextlib.closing(ours):  # fmt: skip
        deadline = time.monotonic() + 60.0
        ours.receive(Ready, deadline=deadline)
        candidate, end = Channel.pair()
        reading, writing = os.pipe()
        printed = Drain(reading)
        fork = Fork(candidate=1, needs_proc=needs_proc, memory_bytes=1 << 30)
        ours.send(fork, (end.fileno(), writing))
        os.close(writing)
        end.close()
        _, (pidfd,) = candidate.receive(Born, deadline=deadline)
        os.close(pidfd)
        candidate.send(Open(device="cpu", own_kernels=""))
        opened, _ = candidate.receive(Opened, deadline=deadline, drains=(printed,))
        ended, _ = ours.receive(Ended, deadline=deadline)
        assert (ended.exit_code, printed.text) == (0, "")
        printed.close()
        candidate.close()
    seen: dict[str, Any] = json.loads(opened.trouble)
    return seen | {"walls": seen["isolation"].split("+")}


needs_namespaces = pytest.mark.skipif(
    not zygote._namespaces_work(with_proc=True),
    reason="this machine allows no user namespaces, or no /proc in them",
)


@needs_namespaces
@pytest.mark.parametrize("needs_proc", [False, True])
def test_a_candidate_sees_itself_in_proc_and_nobody_else(needs_proc: bool) -> None:
    seen = forked("", needs_proc=needs_proc)
    assert {"user", "pid", "network", "ipc", "mount", "seccomp"} < set(seen["walls"])
    assert seen["own"] == str(seen["pid"])
    assert seen["numbers"] == [seen["pid"]]
    assert seen["signals"] == "ESRCH"
    assert seen["own_code"] == (True if needs_proc else "EROFS"), (
        "what a driver needs, and no other"
    )


@needs_namespaces
def test_a_driver_that_must_find_itself_in_proc_gets_no_pids_of_its_own_where_it_could_not() -> (
    None
):
    seen = forked(NO_PROC, needs_proc=True)
    assert "pid" not in seen["walls"]
    assert {"user", "network", "mount"} < set(seen["walls"])
    assert seen["own"] == str(seen["pid"])


@needs_namespaces
def test_without_a_proc_of_its_own_a_candidate_still_has_its_pids_where_nobody_looks() -> None:
    seen = forked(NO_PROC, needs_proc=False)
    assert "pid" in seen["walls"]
    assert seen["own"] != str(seen["pid"])


@pytest.mark.parametrize("needs_proc", [False, True])
def test_without_namespaces_a_candidate_works_and_names_the_walls_it_has(needs_proc: bool) -> None:
    seen = forked(NO_NAMESPACES, needs_proc=needs_proc)
    assert seen["walls"] == ["seccomp", "rlimits"]
    assert seen["signals"] == "EPERM", "where no namespace hides the judge"
    assert seen["signals_itself"] is True, "as abort does"
    assert seen["threads"] == 1


def test_a_processor_without_a_known_filter_has_one_wall_less() -> None:
    walls = forked(NO_FILTER, needs_proc=False)["walls"]
    assert "seccomp" not in walls
    assert walls[-1] == "rlimits"
