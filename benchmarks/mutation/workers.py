"""Measures mutants in several processes: each takes the next one when it is done with the last.

Covered: a process that dies or never answers is replaced, and what it had is tried once more. Not
covered: which mutants are measured, and what is kept of them; that is up to who asks, whose process alone
sees all answers, in the order in which they come.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

__all__ = ["Answer", "Request", "ask_all", "worker_command"]

_WORKER: Final = Path(__file__).with_name("worker.py")
_ANSWER_S: Final = 1500.0
"""More than all deadlines of a measurement together."""
_ATTEMPTS: Final = 2


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a worker is asked."""

    what: str
    """`mutants` of a right kernel, or to `measure` one of them."""
    kernel: str
    """The name of the right kernel."""
    mutant: dict[str, Any] | None = None
    """What is measured."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back."""

    request: Request
    found: dict[str, Any] = field(default_factory=dict)
    """`mutants`, a `record`, or `why_not`."""


def worker_command(folder: Path, *, num_draws: int, num_threads: int) -> tuple[str, ...]:
    """How a process is started that measures.

    Args:
        folder: For what is needed only while it runs; all workers share it.
        num_draws: Of the oracle, at each shape.
        num_threads: Of a submission that is judged.
    """
    counts = ("--draws", str(num_draws), "--threads", str(num_threads))
    return (sys.executable, str(_WORKER), str(folder), *counts)


def ask_all(
    requests: Sequence[Request],
    *,
    num_workers: int,
    command: Sequence[str],
    is_over: Callable[[], bool] = lambda: False,
) -> Iterator[Answer]:
    """The answers, as they come.

    Args:
        requests: All that is asked.
        num_workers: How many processes.
        command: How a worker is started; it answers each line of JSON with one.
        is_over: Whether nothing more is to be begun.
    """
    todo = _Todo(requests, is_over)
    answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
    threads = [
        threading.Thread(target=_serve, args=(todo, answers, tuple(command)), daemon=True)
        for _ in range(min(num_workers, len(requests)))
    ]
    for thread in threads:
        thread.start()
    try:
        num_ended = 0
        while num_ended < len(threads):
            answer = answers.get()
            if answer is None:
                num_ended += 1
            else:
                yield answer
    finally:
        todo.stop()
        for thread in threads:
            thread.join()


class _Todo:
    """What is left, by right kernel: whoever knows a kernel stays with it while there is something to do."""

    def __init__(self, requests: Sequence[Request], is_over: Callable[[], bool]) -> None:
        self._left: dict[str, list[Request]] = {}
        for request in requests:
            self._left.setdefault(request.kernel, []).append(request)
        self._begun: set[str] = set()
        self._is_over = is_over
        self._is_stopped = False
        self._lock = threading.Lock()

    def take(self, kernel: str | None) -> Request | None:
        """The next request for a worker, or that there is none.

        Args:
            kernel: What this worker was asked about last.
        """
        with self._lock:
            if self._is_stopped or self._is_over() or not self._left:
                return None
            if kernel not in self._left:
                # One that nobody has begun; else the longest, to be shared.
                kernel = max(self._left, key=lambda k: (k not in self._begun, len(self._left[k])))
            self._begun.add(kernel)
            request = self._left[kernel].pop(0)
            if not self._left[kernel]:
                del self._left[kernel]
            return request

    def stop(self) -> None:
        """Begin nothing more."""
        with self._lock:
            self._is_stopped = True


def _serve(
    todo: _Todo, answers: queue.SimpleQueue[Answer | None], command: tuple[str, ...]
) -> None:
    """One worker's life, and that of those that follow it."""
    worker: _Worker | None = None
    kernel: str | None = None
    try:
        while (request := todo.take(kernel)) is not None:
            kernel = request.kernel
            for _ in range(_ATTEMPTS):
                worker = worker or _Worker(command)
                found = worker.ask(request)
                if found is not None:
                    break
                worker.close()
                worker = None
            why_not = f"{_ATTEMPTS} workers ended over it without an answer"
            answers.put(Answer(request=request, found=found or {"why_not": why_not}))
    finally:
        if worker is not None:
            worker.close()
        answers.put(None)


class _Worker:
    """A process that measures."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, request: Request) -> dict[str, Any] | None:
        """Its answer; None where it has ended, or had to be."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        text = {"what": request.what, "kernel": request.kernel, "mutant": request.mutant}
        too_late = threading.Timer(_ANSWER_S, self._process.kill)
        too_late.start()
        try:
            self._process.stdin.write(json.dumps(text) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            return None
        finally:
            too_late.cancel()
        return answer

    def close(self) -> None:
        """Let it end its own processes, and end it if it does not."""
        try:
            self._process.communicate(timeout=30.0)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
