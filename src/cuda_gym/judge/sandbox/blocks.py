"""The two sides of a race over the same contents, as `profiling/race.py` asks for them.

Covered: on both sides a failure is told as the fault of whoever it is. Not covered: whose turn it is.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cuda_gym.errors import AgentError, Refused, WorkerLost, WrongOutput
from cuda_gym.judge.profiling.sides import Block, Sealed
from cuda_gym.judge.sandbox.contents import Contents
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.draw_plan import PlannedDraw
from cuda_gym.judge.sandbox.messages import (
    Ran,
    Tree,
)
from cuda_gym.judge.sandbox.reference_worker import ReferenceWorker
from cuda_gym.judge.sandbox.sealed_page import Witnessed, end_sealed
from cuda_gym.judge.sandbox.workers import CandidateWorker

__all__ = ["CandidateBlocks", "ReferenceBlocks", "require_launches"]

_PROFILED_CALLS = 4


class ReferenceBlocks:
    """The reference's side of a race.

    Args:
        reference: Its process.
        deadlines: For each of its answers.
        generator: Of the seeds of contents.
        hidden: Draws that some contents hide, by the number of the contents.
        settle_s: How long its threads go on spinning after a block.
    """

    def __init__(
        self,
        reference: ReferenceWorker,
        deadlines: Deadlines,
        generator: random.Random,
        *,
        hidden: Mapping[int, PlannedDraw],
        settle_s: float,
    ) -> None:
        self._hides = hidden
        self._num_made = 0
        self._num_checked = 0
        self._settle_s = settle_s
        self._reference = reference
        self._deadlines = deadlines
        self._generator = generator
        self.contents: Contents | None = None
        self.num_left_out = 0
        """Hidden draws that memory did not bear."""

    def new_contents(self, count: int, *, spare: bool = False, sealed: bool = False) -> int:
        """Make `count` inputs that nobody has seen, and a spare one; bytes of one call."""
        self.close()
        draw = None
        if not sealed:
            draw, self._num_made = self._hides.get(self._num_made), self._num_made + 1
        place = self._generator.randrange(max(1, min(count, self._num_checked))) + spare
        value, (inputs, outputs) = self._call(
            "contents",
            count=count + spare,
            seed=self._generator.getrandbits(48),
            hidden=draw and {"number": place, "kind": draw.kind, "seed": draw.seed},
            sealed=sealed,
        )
        self.contents = Contents.of(value, inputs, outputs)
        self.num_left_out += draw is not None and not value["hides"]
        return self.contents.content_bytes

    def run(self, count: int, *, dropped: int = 0, gate_us: float = 0.0) -> Block:
        """Time the compiled reference on the first `count` of them."""
        value, _ = self._call("run", count=count, dropped=dropped, gate_ns=round(gate_us * 1000.0))
        time.sleep(self._settle_s)
        return _block(value["call_ns"], value["host_ns"], value["num_ungated"], wall_us=0.0)

    def empty_us(self, count: int, *, queued: bool) -> float:
        """What the latest sealed block takes without its calls."""
        return float(self._call("empty_block", count=count, queued=queued)[0])

    @contextlib.contextmanager
    def gate(
        self, *, queue_s: float, most_s: float
    ) -> Iterator[tuple[int, Callable[[], Witnessed]]]:
        """A gate before the sealed contents: the descriptor of its page, and what tells how the block went.

        Args:
            queue_s: How long a block may take to be queued, before it is opened all the same.
            most_s: How long it may take then.
        """
        _, (page,) = self._call("gate")
        try:
            with self._reference.calling(
                "witness",
                deadline_s=queue_s + most_s + self._deadlines.reference_s,
                queue_s=queue_s,
                most_s=most_s,
            ) as answer:
                try:
                    yield page, lambda: Witnessed(**answer()[0])
                finally:
                    end_sealed(page)
        finally:
            os.close(page)

    def check(self, count: int) -> None:
        """Compare the candidate's outputs with the compiled reference's."""
        value, _ = self._call("check", count=count)
        self._num_checked = count
        ratio, kind = float(value["error_ratio"]), value["kind"]
        if not ratio <= 1.0:
            why = (
                "Every call has new inputs; nothing may be kept from an earlier one."
                if kind == "ordinary"
                else f"Its inputs are those of a {kind!r} draw: a call has to bear them, timed or not."
            )
            raise WrongOutput(
                "An output of a timed call is wrong, though the untimed ones were right: "
                f"its error is {ratio:.3g} times what is allowed. {why}"
            )

    def close(self) -> None:
        """Give the contents back."""
        if self.contents is not None:
            self.contents.close()
            self.contents = None

    def _call(self, method: str, **arguments: Any) -> tuple[Tree, tuple[int, ...]]:
        return self._reference.call(method, deadline_s=self._deadlines.reference_s, **arguments)


class CandidateBlocks:
    """The candidate's side of a race."""

    def __init__(
        self,
        candidate: CandidateWorker,
        dry: CandidateWorker | None,
        reference: ReferenceBlocks,
        deadlines: Deadlines,
    ) -> None:
        self._candidate = candidate
        self._dry = dry
        # What calls nothing costs what the protocol does only if it keeps the same one.
        self._stays = candidate.reads_outputs and (dry is None or dry.reads_outputs)
        self._reference = reference
        self._deadlines = deadlines

    def run(
        self, count: int, *, dropped: int = 0, gate_us: float = 0.0, dry: bool = False
    ) -> Block:
        """Claimed microseconds of each call, and our own of the whole block.

        Raises:
            AgentError: the candidate failed.
            WorkerLost: the one that calls nothing did, which is no submission's fault.
        """
        contents = self._reference.contents
        assert contents is not None
        worker = self._dry if dry else self._candidate
        assert worker is not None
        with _of_a_trusted_process() if dry else contextlib.nullcontext():
            ran, wall_s = worker.run(
                contents.message(
                    count, dropped=dropped, dry=dry, gate_us=gate_us, stays=self._stays
                ),
                contents.inputs,
                contents.outputs,
                deadline_s=self._deadlines.run_s * 3,
            )
        if not dry:
            require_launches(ran, count + dropped)
        return _block(ran.call_ns, ran.host_ns, ran.num_ungated, wall_us=wall_s * 1e6)

    def run_sealed(self, count: int, *, queue_s: float) -> Sealed:
        """Our own microseconds of a block.

        Raises:
            AgentError: the candidate failed.
        """
        contents = self._reference.contents
        assert contents is not None
        deadline_s = self._deadlines.run_s * 3
        with self._reference.gate(queue_s=queue_s, most_s=deadline_s) as (page, witnessed):
            ran = self._candidate.run_sealed(
                contents.message(count),
                contents.inputs,
                contents.outputs,
                page,
                deadline_s=deadline_s + queue_s,
            )
            end_sealed(page)
            seen = witnessed()
        require_launches(ran, count)
        return Sealed(wall_us=seen.wall_us, was_queued=seen.was_queued)

    def profile(self) -> Ran:
        """A few calls more on the latest contents, with the time of each kernel in the fastest."""
        contents = self._reference.contents
        assert contents is not None
        ran, _ = self._candidate.run(
            contents.message(min(_PROFILED_CALLS, len(contents.trees)), time_kernels=True),
            contents.inputs,
            contents.outputs,
            deadline_s=self._deadlines.run_s,
        )
        return ran


@contextlib.contextmanager
def _of_a_trusted_process() -> Iterator[None]:
    """What fails here is no submission's fault."""
    try:
        yield
    except AgentError as error:
        raise WorkerLost(f"The process that calls nothing was lost: {error}") from error


def _block(
    call_ns: Sequence[int], host_ns: Sequence[int], num_ungated: int, *, wall_us: float
) -> Block:
    return Block(
        call_us=tuple(ns / 1000.0 for ns in call_ns),
        host_us=tuple(ns / 1000.0 for ns in host_ns),
        num_ungated=num_ungated,
        wall_us=wall_us,
    )


def require_launches(ran: Ran, num_calls: int) -> None:
    """A right output that no kernel made was made on the host.

    Raises:
        Refused: with the counts.
    """
    if ran.launches + ran.library_calls < num_calls:
        raise Refused(
            f"The outputs are right, but {num_calls} calls launched {ran.launches} kernels. "
            "Compute in a __global__ kernel, and launch it in every call."
        )
