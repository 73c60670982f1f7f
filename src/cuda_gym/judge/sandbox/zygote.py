"""The process from which candidates are forked: it has torch imported, and has never used it.

    judge ── zygote ── warden ── candidate        (one warden and one candidate an evaluation)

Importing torch takes seconds, a fork takes milliseconds. So the zygote imports once and forks for
each evaluation. It runs no tensor operation (a forked child hangs in its first parallel region if
its parent ever had one), keeps a single thread, and holds no secret.

A *warden* stands between: it enters new namespaces, adopts whatever the candidate leaves behind,
ends all of it, and ends like the candidate ended. The zygote ends when the judge closes its channel.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, NoReturn

from cuda_gym.judge.sandbox import limits
from cuda_gym.judge.sandbox.channel import Channel, ChannelClosed
from cuda_gym.judge.sandbox.messages import (
    Born,
    Ended,
    Fork,
    Ready,
)


class Zygote:
    """Forks candidates when asked to, and tells how each ended."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._wardens: dict[int, int] = {}
        """Candidate number by the pid of its warden; unreaped, so no pid is used twice."""
        self._namespaces = _namespaces_work()
        self._fresh_proc = self._namespaces and _namespaces_work(with_proc=True)

    def serve(self) -> None:
        """Answer until the judge closes its end."""
        wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            waiting: list[Any] = [self._channel, wake]
            readable, _, _ = select.select(waiting, [], [])
            if wake in readable:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake, 4096)
                self._reap()
            if self._channel in readable:
                try:
                    message, descriptors = self._channel.receive(Fork)
                except ChannelClosed:
                    break
                self._answer(message, descriptors)
        for warden in self._wardens:
            os.kill(warden, signal.SIGTERM)
        for warden in self._wardens:
            os.waitpid(warden, 0)

    def _answer(self, message: Fork, descriptors: tuple[int, ...]) -> None:
        warden = os.fork()
        if warden == 0:
            own_pids = self._namespaces and (self._fresh_proc or not message.needs_proc)
            try:
                _watch_over(
                    message,
                    descriptors,
                    self._channel,
                    namespaces=self._namespaces,
                    own_pids=own_pids,
                )
            finally:  # no file, no memory, no process could be had: it must not go on as a zygote
                os._exit(1)
        self._wardens[warden] = message.candidate
        for descriptor in descriptors:
            os.close(descriptor)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            candidate = self._wardens.pop(pid, None)
            if candidate is not None:
                code, signal_ = _how_it_ended(os.waitstatus_to_exitcode(status))
                self._channel.send(Ended(candidate=candidate, exit_code=code, signal=signal_))


def _watch_over(
    message: Fork,
    descriptors: tuple[int, ...],
    zygote: Channel,
    *,
    namespaces: bool,
    own_pids: bool,
) -> NoReturn:
    """The warden: fork the candidate into its walls, end all that it started, end like it."""
    _become_a_child()
    zygote.close()
    limits.adopt_orphans()
    os.setsid()
    folder = Path(tempfile.mkdtemp(prefix="cuda_gym-"))
    limits.hide_memory(False)  # a hidden process may not write its own uid_map; no secret is here
    walls = limits.enter_namespaces(own_pids=own_pids) if namespaces else ()
    candidate = os.fork()
    if candidate == 0:
        _become_candidate(message, descriptors, folder, walls)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(candidate, signal.SIGKILL))
    with contextlib.suppress(ChannelClosed):
        end = socket.socket(fileno=os.dup(descriptors[0]))
        Channel(end).send(Born(), (os.pidfd_open(candidate),))
        end.close()
    for descriptor in descriptors:
        os.close(descriptor)
    pid, status = 0, 0
    while pid != candidate:
        pid, status = os.waitpid(-1, 0)
    _end_descendants()
    shutil.rmtree(folder, ignore_errors=True)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL:
        os._exit(_KILLED_EXIT)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _how_it_ended(code: int) -> tuple[int | None, int | None]:
    """Exit code and signal of a candidate, from how its warden ended; neither where that one was killed."""
    if code == _KILLED_EXIT:
        return None, signal.SIGKILL
    if code == -signal.SIGKILL:
        return None, None
    return (code, None) if code >= 0 else (None, -code)


_KILLED_EXIT = 128 + signal.SIGKILL
"""Of a warden whose candidate was killed; one that is killed itself cannot say so."""


def _become_candidate(
    message: Fork, descriptors: tuple[int, ...], folder: Path, walls: tuple[str, ...]
) -> NoReturn:
    """The candidate: put up the walls, then listen to the judge."""
    from cuda_gym.judge.sandbox.candidate_loop import serve

    _become_a_child()
    channel_end, output = descriptors
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(channel_end, 3)
    os.set_inheritable(3, False)
    os.closerange(4, 1 << 16)
    if walls:
        walls += limits.enclose(folder, fresh_proc="pid" in walls, writable_proc=message.needs_proc)
    os.chdir(folder)
    tempfile.tempdir = str(folder)
    os.environ.clear()
    os.environ.update(HOME=str(folder), TMPDIR=str(folder), PATH="", LANG="C.UTF-8")
    limits.limit_resources(message.memory_bytes)
    limits.drop_privileges()
    forbidden = limits.forbid_processes(
        and_touching_others="pid" not in walls,
        and_needless_calls=not message.needs_proc,  # a driver may need them
    )
    walls += (*forbidden, "rlimits")
    code = 1
    try:
        serve(Channel(socket.socket(fileno=3)), isolation="+".join(walls))
        code = 0
    except BaseException:  # a fork must never return into the zygote's loop
        traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        os._exit(code)


def _become_a_child() -> None:
    """Undo what a fork inherits from the zygote's loop, and die with the parent."""
    limits.die_with_parent()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _end_descendants() -> None:
    """Kill until nobody is left: what is killed may just have forked."""
    while left := limits.descendants(os.getpid()):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _namespaces_work(*, with_proc: bool = False) -> bool:
    """Try it in a child: a failed attempt leaves a process without a user.

    Args:
        with_proc: Whether a /proc of their own can be mounted inside; a container may forbid it.
    """
    pid = os.fork()
    if pid == 0:
        limits.hide_memory(False)
        try:
            entered = limits.enter_namespaces()
            os._exit(0 if entered and (not with_proc or _can_mount_proc()) else 1)
        except OSError:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _can_mount_proc() -> bool:
    """In a child of this process: the namespace of pids begins with it."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if limits.mount_fresh_proc() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def main() -> None:
    """Entry point: `python -m cuda_gym.judge.sandbox.zygote DESCRIPTOR`."""
    limits.hide_memory()
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import torch

    # So that a forked child need not.
    import cuda_gym.judge.sandbox.candidate_loop
    import cuda_gym.judge.sandbox.cpu_worker
    import cuda_gym.judge.sandbox.cuda_worker  # noqa: F401

    # A candidate can load no native module any more, and torch imports these at the first use of a flag.
    for name in ("_lsprof", "termios", "numpy.fft"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)

    from cuda_gym.judge.sandbox.closed_code import find_code
    from cuda_gym.judge.sandbox.torch_operators import kernels_to_refuse

    with contextlib.suppress(ImportError):
        import cuda.bindings.driver  # noqa: F401
    for device in ("cpu", "cuda"):
        kernels_to_refuse(device)
    closed = find_code()

    threads = len(list(Path("/proc/self/task").iterdir()))
    with contextlib.suppress(ChannelClosed):
        channel.send(Ready(torch=torch.__version__, threads=threads, closed=closed))
        Zygote(channel).serve()
    own_folder = os.environ.get("CUDA_GYM_OWN_FOLDER")
    if own_folder:  # a judge that was killed cannot
        shutil.rmtree(own_folder, ignore_errors=True)
    os._exit(0)  # nothing is left to be torn down in order


if __name__ == "__main__":
    main()
