"""A process of its own that judges, and can be killed or be given a machine in a bad state.

    python -m tests.faults.judge_alone CACHE STEP ...

Steps, in turn, each told at its begin and its end: `verify`, `judge`, `build` (a kernel that was never built),
`slow` (a judgement that takes long), `mount` (a small disk over the cache), `fill`, `free`, `read-only`, `writable`.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tests.conftest import QUICK, SCALE_KERNEL, SCALE_MODEL, SCALE_TASK, submit
from tests.faults import mounts
from tests.faults.stages import SLOW

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Findings
from cuda_gym.core.task import Task
from cuda_gym.core.verdict import Verdict
from cuda_gym.judge.judge import Judge, JudgeConfig

_TASK = Task(id="test/scale", title="exp(x) times a weight", source=SCALE_TASK)


def main() -> None:
    cache = Path(sys.argv[1])
    os.environ["CUDA_GYM_CACHE"] = str(cache)
    judge: Judge | None = None
    for step in sys.argv[2:]:
        if step in _ON_DISK:
            _ON_DISK[step](cache)
            _say(step, "done")
            continue
        judge = judge or Judge(
            Device("cpu"), JudgeConfig(memory_bytes=2 << 30, timing=QUICK, folder=cache)
        )
        _say(step, "begins")
        result = _judge(judge, step)
        _say(step, result.outcome.value if result.outcome else "", result.summary)
    if judge is not None:
        judge.close()


def _say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def _judge(judge: Judge, step: str) -> Findings | Verdict:
    right = submit(SCALE_MODEL, SCALE_KERNEL)
    new = submit(SCALE_MODEL, f"{SCALE_KERNEL}// {time.monotonic_ns()}\n")
    if step == "verify":
        return judge.verify(_TASK, right)
    if step == "build":
        return judge.verify(_TASK, new)
    return judge.judge(_TASK, {"judge": right, "slow": SLOW}[step])


_ON_DISK = {
    "mount": mounts.mount_small_disk,
    "fill": mounts.fill,
    "free": mounts.free,
    "read-only": mounts.make_read_only,
    "writable": mounts.make_writable,
}

if __name__ == "__main__":
    main()
