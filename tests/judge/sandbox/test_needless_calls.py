"""What only a driver may need fails in a process that is told so, and works in any other."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from cuda_gym.judge.sandbox.needless_calls import needless_calls

SCRIPT = """
import ctypes, errno, json, os, socket, sys
from cuda_gym.judge.sandbox import limits
libc = ctypes.CDLL(None, use_errno=True)
if sys.argv[1] == "forbid":
    limits.drop_privileges()
    if not limits.forbid_processes(and_needless_calls=True):
        sys.exit("no filter")

def trouble(call, *arguments, remove=None):
    number = call(*arguments)
    if number >= 0 and remove:
        remove(number, 0, None)
    return number < 0 and ctypes.get_errno() == errno.EPERM

kept = ctypes.create_string_buffer(256)
refused = {
    "timer_create": trouble(libc.timer_create, 1, None, kept),
    "timerfd_create": trouble(libc.timerfd_create, 1, 0),
    "memfd_create": trouble(libc.memfd_create, b"more", 0),
    "shmget": trouble(libc.shmget, 0, 4096, 0o1600, remove=libc.shmctl),
    "msgget": trouble(libc.msgget, 0, 0o1600, remove=libc.msgctl),
    "socket": trouble(libc.socket, socket.AF_UNIX, socket.SOCK_STREAM, 0),
    "socketpair": trouble(libc.socketpair, socket.AF_UNIX, socket.SOCK_STREAM, 0, kept),
}
print(json.dumps(refused))
"""


def refused(how: str) -> dict[str, bool]:
    command = [sys.executable, "-c", SCRIPT, how]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    if "no filter" in ran.stderr:
        pytest.skip("this machine takes no filter")
    assert ran.returncode == 0, ran.stderr
    found: dict[str, bool] = json.loads(ran.stdout)
    return found


@pytest.mark.skipif(not needless_calls(os.uname().machine), reason="numbers are not known")
def test_timers_and_memory_that_no_limit_counts_are_not_to_be_had() -> None:
    found = refused("forbid")
    assert all(found.values()), found


def test_a_process_that_nobody_told_so_has_them() -> None:
    found = refused("nothing")
    assert not any(found.values()), found
