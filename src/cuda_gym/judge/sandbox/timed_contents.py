"""The blocks of a race in the reference's process: contents that nobody has seen, the compiled model on them, a check.

Sealed blocks too: their gate, who waits behind it, and what such a block takes without its calls.

Covered: one of the contents may be a hidden draw of another kind, and is judged as such. Not covered: whose turn
it is, and of what length (`profiling/race.py`).
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import torch

from cuda_gym.errors import MachineError, TaskError
from cuda_gym.judge.sandbox.draw_plan import called
from cuda_gym.judge.sandbox.draw_stock import DrawStock
from cuda_gym.judge.sandbox.empty_blocks import EmptyBlocks
from cuda_gym.judge.sandbox.exchange import Answer, Exchange
from cuda_gym.judge.sandbox.sealed_gate import SealedGate
from cuda_gym.judge.sandbox.task_memory import TaskMemory
from cuda_gym.judge.sandbox.timed_outputs import HiddenContent, worst_output
from cuda_gym.judge.sandbox.timed_reference import TimedReference, with_threads
from cuda_gym.judge.sandbox.worker_device import WorkerDevice
from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.making import generators_kept
from cuda_gym.judge.verification.nests import tensors_in

__all__ = ["TimedContents"]

_REHEARSALS = 3
_REHEARSED_SEED = 0


class TimedContents:
    """Of one task; the contents of one block after the other.

    Args:
        device: Where they are called.
        exchange: Hands them out.
        stock: Has the draws that some of them hide.
        memory: What the task may take.
        make_inputs: Of a seed.
        compiled: The compiled model.
        empty: What sealed blocks take without calls.
        num_threads: As many as a race has.
    """

    def __init__(
        self,
        device: WorkerDevice,
        exchange: Exchange,
        stock: DrawStock,
        memory: TaskMemory,
        make_inputs: Callable[[int], list[Any]],
        *,
        compiled: TimedReference,
        empty: EmptyBlocks,
        num_threads: int,
    ) -> None:
        self._device = device
        self._exchange = exchange
        self._stock = stock
        self._memory = memory
        self._make_inputs = make_inputs
        self._compiled = compiled
        self._empty = empty
        self._num_threads = num_threads
        self._ran: list[list[torch.Tensor]] = []
        """What the compiled model returned for the latest of them."""
        self._hidden: HiddenContent | None = None
        self._first_timed = 0
        """Of the latest contents: behind one that is spare."""
        self._eager_is_due = False
        """Once a submission: its time is shown, not raced."""

    def begin(self) -> None:
        """A draw is made before a race, or for one: nothing is kept of the last."""
        self.let_go()
        self._eager_is_due = True

    def let_go(self) -> None:
        """Of what was made for the latest contents, but for what is handed out."""
        self._ran, self._hidden = [], None

    def contents(
        self,
        *,
        count: int,
        seed: int,
        hidden: Mapping[str, Any] | None = None,
        sealed: bool = False,
    ) -> Answer:
        """New ordinary inputs for one block of each side, one of them a hidden draw if memory bears that.

        Args:
            count: How many.
            seed: Of the first.
            hidden: Number, kind and seed of one that is not ordinary.
            sealed: Whether nobody can read them before a gate opens.
        """
        self._hand_out(count, seed, hidden=hidden, sealed=sealed)
        value, descriptors = self._exchange.answer()
        return {**value, "hides": self._hidden is not None}, descriptors

    def run(self, *, count: int, dropped: int, gate_ns: int) -> Answer:
        """Time the compiled model on the latest contents; what it returned is kept for `check`."""
        handout = self._exchange.handout
        calls = [handout.call(number) for number in called(count, dropped)]
        self._ran = []
        timed = self._compiled.run(calls, gate_ns=gate_ns, and_eager=self._eager_is_due)
        self._ran = timed.kept[max(0, dropped - 1) :]
        self._first_timed = int(dropped > 0)
        self._eager_is_due = False
        self._device.evict_caches(handout.input_bytes)
        return {
            "call_ns": list(timed.call_ns),
            "host_ns": list(timed.host_ns),
            "num_ungated": timed.num_ungated,
        }, ()

    def gate(self) -> Answer:
        """A new gate before the sealed contents: the descriptor of its page."""
        assert self._exchange.gate is not None
        num_outputs = sum(map(len, self._exchange.handout.specs))
        return {}, (self._exchange.gate.renew(num_outputs=num_outputs),)

    def witness(self, *, queue_s: float, most_s: float) -> Answer:
        """Open the gate when a block is queued behind it, and tell when its outputs were there.

        Args:
            queue_s: How long the block may take to be queued; then the gate opens all the same.
            most_s: How long it may take then; after that it is given up.
        """
        assert self._exchange.gate is not None
        seen = self._exchange.gate.witness(queue_s=queue_s, most_s=most_s)
        return asdict(seen), ()

    def rehearse(self, *, count: int, contents_bytes: int) -> bool:
        """Find out what a sealed block takes without its calls, before there is a submission that could disturb that.

        Args:
            count: Of its calls, where memory bears so many.
            contents_bytes: What their inputs and outputs may take.

        Returns:
            Whether there was anything to find out.
        """
        count = min(count, max(1, contents_bytes // max(1, self._content_bytes)))
        if self._device.sealing is None or self._empty.knows(count):
            return False
        # For want of memory: the first race does it.
        with contextlib.suppress(MachineError, torch.OutOfMemoryError):
            self._hand_out(count, _REHEARSED_SEED, hidden=None, sealed=True)
            for _ in range(_REHEARSALS):
                self._empty.measure_us(self._exchange.handout, count, queued=True)
        return True

    def empty_block(self, *, count: int, queued: bool) -> Answer:
        """What a block of the sealed contents takes without its calls, in microseconds.

        Args:
            count: Of the calls.
            queued: Whether its gate opens when all is queued, or at once.
        """
        return self._empty.measure_us(self._exchange.handout, count, queued=queued), ()

    def check(self, *, count: int) -> Answer:
        """Compare the candidate's outputs of a block with the compiled model's.

        Raises:
            WrongOutput: it has changed its inputs.
            Refused: outputs of a sealed block came after it was said to be over.
        """
        handout = self._exchange.handout
        self._require_finished()
        self._exchange.require_unchanged()
        with with_threads(self._num_threads):
            worst = worst_output(
                handout,
                self._ran,
                self._exchange.trial.expected,
                count=self._first_timed + count,
                hidden=self._hidden,
                comparing=self._device.comparing,
            )
        self._require_finished()  # what was compared, lay there all the time
        return {"error_ratio": repr(worst.error_ratio), "kind": worst.kind}, ()

    def _require_finished(self) -> None:
        """Of a sealed block: its outputs are those that were there when it was said to be over."""
        gate = self._exchange.gate
        if gate is not None:
            gate.require_finished(self._device, self._exchange.handout.returned())

    @functools.cached_property
    def _content_bytes(self) -> int:
        """Inputs and outputs of one call."""
        inputs = tensors_in(self._make_inputs(_REHEARSED_SEED))
        return self._memory.written_bytes + sum(t.numel() * t.element_size() for t in inputs)

    def _hand_out(
        self, count: int, seed: int, *, hidden: Mapping[str, Any] | None, sealed: bool
    ) -> None:
        """See `contents`."""
        ordinary = DrawKind.ORDINARY
        if not self._exchange.has_drawn(ordinary):
            self.begin()
            self._exchange.hand_out_draw(ordinary.value, seed, repeats=1)
        self.let_go()
        self._exchange.let_go()
        self._exchange.let_go_of_values()
        place = -1 if hidden is None else int(hidden["number"])
        make = self._make_inputs
        with generators_kept(self._device.torch_device):
            batches = [[] if number == place else make(seed + number) for number in range(count)]
        if hidden is not None:
            inputs = self._hide(hidden["kind"], place, hidden["seed"])
            batches[place] = make(seed + place) if inputs is None else inputs
        self._exchange.hand_out_block(batches, gate=SealedGate() if sealed else None)
        self._device.evict_caches(self._exchange.handout.input_bytes)

    def _hide(self, kind: str, place: int, seed: int) -> list[Any] | None:
        """Make a hidden draw for one of the contents; its inputs, or None where that fails."""
        trial = self._stock.take(kind, seed)
        if trial is None:
            self._memory.end_phase()
            with contextlib.suppress(TaskError, MachineError):
                trial = self._stock.make(kind, seed)
        if trial is not None:
            self._hidden = HiddenContent(number=place, trial=trial)
            return trial.draw.inputs
        return None
