"""Starts and ends the interpreters of the sandbox."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

from cuda_gym.judge.sandbox import limits


def spawn(module: str, theirs: socket.socket, **variables: str) -> subprocess.Popen[bytes]:
    """A fresh interpreter running `module`, with nothing of our environment but the search path."""
    environment = scrubbed_environment(**variables)
    if module.endswith("zygote"):
        environment["OMP_NUM_THREADS"] = "1"
        # The threads of a library call spin for milliseconds before they sleep, on the cores that
        # the kernel after it needs: two products with a kernel between, 0.56 instead of 3 to 20 ms.
        environment["GOMP_SPINCOUNT"] = "1000"
    with theirs:
        os.set_inheritable(theirs.fileno(), True)
        return subprocess.Popen(
            [sys.executable, "-m", module, str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            env=environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )


def scrubbed_environment(**variables: str) -> dict[str, str]:
    """What a process of the sandbox sees of our environment: where programs are, and which devices."""
    kept = (
        "CXX", "PATH", "TMPDIR", "CUDA_GYM_CACHE", "XDG_CACHE_HOME", "HOME", "LD_LIBRARY_PATH",
        "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
    )  # fmt: skip
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    return (
        environment
        | {
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LANG": "C.UTF-8",
            # Freed memory stays with the process: else each call pays for the page faults of its output
            # once more, and each side's luck with the allocator is timed.
            "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
            "MALLOC_TRIM_THRESHOLD_": str(4 << 30),
        }
        | variables
    )


def own_processes() -> tuple[int, ...]:
    """This process and all below it, as their pids are seen here."""
    return (os.getpid(), *limits.descendants(os.getpid()))


def end(process: subprocess.Popen[bytes]) -> None:
    """They end by themselves when their channel closes; what does not is killed, compilers too."""
    try:
        process.wait(timeout=2.0)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
