"""Runs builds in forked processes, for `trials.py`: a line of JSON in, a line of JSON out.

Torch is imported once and runs nothing here; every trial is a child of its own, so that a mutant
that crashes, hangs, or takes all memory ends nothing else.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a script

import torch
from benchmarks.mutation import rules
from benchmarks.mutation.loaded import LoadedSubmission

_MEMORY_BYTES: Final = 6 << 30
_ASKING: Final = os.getppid()


def main() -> None:
    """Answer requests until there are no more."""
    for line in sys.stdin:
        request = json.loads(line)
        answer = _in_a_child(request, deadline_s=float(request["deadline_s"]))
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _in_a_child(request: dict[str, Any], deadline_s: float) -> dict[str, Any]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _run(request, writing)
    os.close(writing)
    try:
        text = _read(reading, time.monotonic() + deadline_s)
    finally:
        os.close(reading)
        if _ended(pid) is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    if text is None:
        return {"state": "timeout", "why": f"no answer in {deadline_s:.0f} s"}
    if not text:
        return {"state": "crash", "why": "the process ended without an answer"}
    found: dict[str, Any] = json.loads(text)
    return found


def _ended(pid: int) -> int | None:
    """Whether the child has ended, with a moment to do so."""
    for _ in range(50):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return status
        time.sleep(0.002)
    return None


def _read(descriptor: int, deadline: float) -> bytes | None:
    """All that is written until the other end is closed; None at the deadline."""
    parts: list[bytes] = []
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], min(left, 1.0))[0]:
            if os.getppid() != _ASKING:
                break  # nobody waits for the answer any more
            continue
        part = os.read(descriptor, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return None


def _run(request: dict[str, Any], descriptor: int) -> None:
    """In the child: never returns."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))
    try:
        torch.set_num_threads(1)
        answer = {"state": "done", **_answer(request)}
    except BaseException as error:  # noqa: BLE001 - whatever a mutant raises is an answer
        answer = {"state": "raised", "why": f"{type(error).__name__}: {error}"[:300]}
    view = memoryview(json.dumps(answer).encode())
    while view:
        view = view[os.write(descriptor, view) :]
    os._exit(0)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    loaded = LoadedSubmission(request["library"], request["files"], tuple(request["operations"]))
    source, task_id = request["source"], request["task_id"]
    if request["what"] == "kernelbench":
        return {"passes": rules.passes_kernelbench(loaded, source)}
    if request["what"] == "cuda_agent":
        return {"passes": rules.passes_cuda_agent(loaded, source)}
    if request["what"] == "sizes":
        return {"sizes": rules.usual_sizes(loaded, source, task_id)}
    if request["what"] == "calibrate":
        return rules.calibrate(loaded, source, task_id, int(request["num_draws"]))
    calibration = json.loads(Path(request["calibration"]).read_text("utf-8"))
    budget_s = float(request["budget_s"])
    return rules.try_by_oracle(loaded, source, task_id, calibration, budget_s=budget_s)


if __name__ == "__main__":
    main()
