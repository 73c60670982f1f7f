"""A process has stopped once all of its threads have, and not when it was told to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from cuda_gym.judge.sandbox.channel import DeadlinePassed
from cuda_gym.judge.sandbox.freezing import stopped_at

WRITER = """
import os, threading, time
descriptor, data = os.memfd_create("written"), memoryview(bytes(256 << 20))
def write():
    os.write(1, b"!")
    while True:
        os.pwrite(descriptor, data, 0)
threading.Thread(target=write, daemon=True).start()
time.sleep(60.0)
"""
"""One of its threads is nearly always inside the kernel, for a tenth of a second each time."""


def test_a_thread_that_is_inside_the_kernel_is_waited_for() -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE) as writer:
        pidfd = os.pidfd_open(writer.pid)
        assert writer.stdout is not None
        writer.stdout.read(1)
        time.sleep(0.01)
        signal.pidfd_send_signal(pidfd, signal.SIGSTOP)
        told = time.monotonic()
        assert stopped_at(pidfd, told + 30.0) > told
        again = time.monotonic()
        assert stopped_at(pidfd, again + 30.0) < again + 1.0
        signal.pidfd_send_signal(pidfd, signal.SIGCONT)
        with pytest.raises(DeadlinePassed):
            stopped_at(pidfd, time.monotonic())
        writer.kill()
    assert stopped_at(pidfd, time.monotonic()) <= time.monotonic()
    os.close(pidfd)
