"""What the defences of the judge cost an evaluation: the seconds of each on the way to a Verdict.

    python benchmarks/cuda_defences.py [--device cuda:0] [--repeats 5] [--quick] [--to FOLDER]

The steps that a judge of honest people could leave out are timed where the judge takes them: the texts are
looked through, torch's operators are refused, the outputs of all timed calls are compared and the inputs
looked at for changes, a block is sealed and taken by the judge's own clock. Namespaces, limits and filters are put
up while the compiler runs, so what they take is measured in a process of its own. A step that the build hides
counts all the same: the sum is an upper bound.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, for what they share

from benchmarks.on_gpu.options import options, parsed
from benchmarks.on_gpu.problems import Problem, fresh, matmul, relu, softmax
from benchmarks.on_gpu.results import record, say

from cuda_gym.core.device import Device
from cuda_gym.core.verdict import Fingerprint
from cuda_gym.judge import compilation
from cuda_gym.judge.judge import Judge
from cuda_gym.judge.profiling import audits
from cuda_gym.judge.sandbox import limits
from cuda_gym.judge.sandbox.blocks import ReferenceBlocks
from cuda_gym.judge.sandbox.workers import CandidateWorker

BOUND_S = 0.3
STEPS: tuple[tuple[str, Any, str], ...] = (
    ("texts", compilation, "check_model"),
    ("texts", compilation, "check_kernels"),
    ("operators refused", CandidateWorker, "forbid"),
    ("timed outputs compared", ReferenceBlocks, "check"),
    ("sealed blocks", audits, "_audit_once"),
)
"""The name of a defence, and where the judge takes it. A sealed block has a comparison of its own, counted with it."""


def problems(device: Device) -> Sequence[Problem]:
    """Those of `evaluation_speed.py`; small where there is no GPU."""
    if device.kind == "cpu":
        return [relu(16, 4096), softmax(64, 512), matmul(128)]
    return [relu(), softmax(), matmul()]


class Watch:
    """Seconds by step; of steps within steps the outer one counts."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._depth = 0

    def watched(self, name: str, act: Callable[..., Any]) -> Callable[..., Any]:
        """The same act, timed."""

        def timed(*arguments: Any, **named: Any) -> Any:
            start, self._depth = time.perf_counter(), self._depth + 1
            try:
                return act(*arguments, **named)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.seconds[name] += time.perf_counter() - start

        return timed


@contextmanager
def watching() -> Iterator[Watch]:
    """While every step of a defence is timed."""
    watch = Watch()
    before = [(place, name, getattr(place, name)) for _, place, name in STEPS]
    for (step, place, name), (_, _, act) in zip(STEPS, before, strict=True):
        setattr(place, name, watch.watched(step, act))
    try:
        yield watch
    finally:
        for place, name, act in before:
            setattr(place, name, act)


def walls_s() -> float:
    """What namespaces, a private view of the files, limits and the filter take, in a child of this process."""
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        if os.fork() == 0:
            start = time.perf_counter()
            entered = limits.enter_namespaces()
            if os.fork() == 0:
                if entered:
                    limits.enclose(Path(folder), fresh_proc=True)
                limits.limit_resources(1 << 34)
                limits.drop_privileges()
                limits.forbid_processes()
                os.write(writing, repr(time.perf_counter() - start).encode())
                os._exit(0)
            os.wait()
            os._exit(0)
        os.wait()
    os.close(writing)
    with os.fdopen(reading) as told:
        return float(told.read())


def cost_of(judge: Judge, problem: Problem, repeats: int) -> tuple[Fingerprint, dict[str, Any]]:
    """Medians over several evaluations with a cold build, after one that warms the reference."""
    fingerprint = judge.judge(problem.task, fresh(problem.submission)).fingerprint
    taken: list[dict[str, float]] = []
    for _ in range(repeats):
        with watching() as watch:
            start = time.perf_counter()
            verdict = judge.judge(problem.task, fresh(problem.submission))
            whole = time.perf_counter() - start
        if verdict.timing is None or verdict.fingerprint is None:
            raise SystemExit(f"{problem.name} is no measure: {verdict.summary}")
        fingerprint = verdict.fingerprint
        taken.append({**watch.seconds, "whole": whole})
    steps = list(dict.fromkeys(step for step, _, _ in STEPS))
    medians = {step: statistics.median(one.get(step, 0.0) for one in taken) for step in steps}
    assert fingerprint is not None
    return fingerprint, {
        "problem": problem.name,
        "seconds": medians,
        "evaluation_s": statistics.median(one["whole"] for one in taken),
        "num_evaluations": len(taken),
    }


def main() -> None:
    parser = options(__doc__, quick="two evaluations of each")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parsed(parser)
    if arguments is None:
        return
    walls = statistics.median(walls_s() for _ in range(9))
    say(f"walls, in a process of their own: {walls * 1000:.1f} ms")
    found = []
    judge = Judge(arguments.device)
    try:
        for problem in problems(arguments.device):
            repeats = 2 if arguments.quick else arguments.repeats
            fingerprint, one = cost_of(judge, problem, repeats)
            one["sum_s"] = sum(one["seconds"].values()) + walls
            found.append(one)
            told = ", ".join(f"{step} {s * 1000:.0f} ms" for step, s in one["seconds"].items())
            say(
                f"{problem.name}: {one['sum_s']:.3f} s of {one['evaluation_s']:.2f} s, at most {BOUND_S} s: "
                f"{'holds' if one['sum_s'] <= BOUND_S else 'DOES NOT HOLD'} ({told})"
            )
            figures = {"bound_s": BOUND_S, "walls_s": walls, "problems": found}
            record(fingerprint, "defences", figures, arguments.to)
    finally:
        judge.close()


if __name__ == "__main__":
    main()
