"""What runs inside a reference process: the task's own module, which is trusted.

It makes the hidden inputs and knows what comes out of them, compares what a candidate delivered,
and is the other side of every race: torch.compile on the same contents. One process a task; nothing
of a candidate is ever run, opened or unpickled here, and its outputs are copied before they are
looked at.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from cuda_gym.core.plain import as_plain
from cuda_gym.core.task import Task
from cuda_gym.core.verdict import JUDGE_VERSION, Work
from cuda_gym.errors import MachineError, TaskError, WrongOutput
from cuda_gym.judge.profiling.memory_budget import AHEAD_BYTES, LARGE_BYTES
from cuda_gym.judge.profiling.roofline import number_format
from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.ceilings import known_rates, known_work
from cuda_gym.judge.sandbox.device_opening import open_worker_device
from cuda_gym.judge.sandbox.draw_plan import called
from cuda_gym.judge.sandbox.empty_blocks import EmptyBlocks
from cuda_gym.judge.sandbox.handout import Handout, region_spec
from cuda_gym.judge.sandbox.messages import Tree
from cuda_gym.judge.sandbox.outputs import changed_input
from cuda_gym.judge.sandbox.records import load_record, save_record
from cuda_gym.judge.sandbox.sealed_gate import SealedGate
from cuda_gym.judge.sandbox.timed_outputs import HiddenContent, worst_output
from cuda_gym.judge.sandbox.timed_reference import TimedReference, with_threads
from cuda_gym.judge.sandbox.worker_device import WorkerDevice
from cuda_gym.judge.verification.admission import Admission, OutputSpec, admit
from cuda_gym.judge.verification.allocation import free_bytes
from cuda_gym.judge.verification.inputs import DrawKind, draw_inputs, perturbed_state
from cuda_gym.judge.verification.making import generators_kept
from cuda_gym.judge.verification.nests import tensors_in
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial
from cuda_gym.judge.verification.work import work_of

_MODEL_SEED = 0
_REHEARSALS = 3
_MAKING = 3
"""What is held while a draw is made, as a multiple of what it expects: that, and gold in float64."""

Answer = tuple[Tree, tuple[int, ...]]
"""A value, and descriptors to be sent with it (and closed here afterwards)."""


class Reference:
    """One task in this process."""

    def __init__(self) -> None:
        self._records = Path()
        self._trial: Trial | None = None
        self._handout: Handout | None = None
        self._stock: dict[tuple[int, str, int], Trial] = {}
        """Draws that were made ahead, by the seed of the weights, kind and seed."""
        self._weights_seed = 0
        self._ran: list[list[torch.Tensor]] = []
        self._hidden: HiddenContent | None = None
        self._first_timed = 0
        """Of the latest contents: behind one that is spare."""
        self._gate: SealedGate | None = None
        """Of the latest contents, where they are sealed."""
        self._eager_is_due = False
        """Once a submission: its time is shown, not raced."""
        torch.set_num_threads(1)

    def open(
        self,
        *,
        task: Mapping[str, Any],
        device: str,
        num_threads: int,
        folder: str,
        own_kernels: str,
    ) -> Answer:
        """Load the task, and admit it unless it was admitted before."""
        self._num_threads = num_threads
        self._task = Task(**{**task, "band": None, "library": tuple(task["library"])})
        self._records = Path(folder)
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(self._records / "inductor")
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
        torch.backends.cuda.matmul.allow_tf32 = self._task.allow_tf32
        torch.backends.cudnn.allow_tf32 = self._task.allow_tf32
        self._device: WorkerDevice = open_worker_device(device, own_kernels=own_kernels)
        self._reference = ReferenceModule.of(self._task, self._device.torch_device)
        self._model = self._reference.make_model(_MODEL_SEED)
        self._initial = {name: t.clone() for name, t in self._model.state_dict().items()}
        self._admission = self._admit()
        self._is_large = self._admission.peak_bytes > LARGE_BYTES
        self._written_bytes = sum(map(_num_bytes, self._admission.outputs))
        self._end_phase()
        self._timed = TimedReference(
            self._device,
            self._model,
            self._reference.make_inputs,
            num_threads=num_threads,
            peak_bytes=self._admission.peak_bytes,
            records=self._records,
            key=self._key("baseline"),
        )
        self._empty = EmptyBlocks(
            self._device, records=self._records, key=self._key("empty blocks")
        )
        init_args = transport.encode_tree(
            self._reference.init_inputs(), transport.Layout(self._device.alignment), []
        )
        kinds = [kind.value for kind in self._admission.draw_kinds]
        smaller = DrawKind.SMALLER_SHAPE.value
        return {
            "init_args": init_args,
            "draws": kinds,
            "smallest": smaller if smaller in kinds else kinds[0],
            "free_dimensions": sorted(self._admission.free_dimensions),
            "notes": list(self._admission.notes),
            "written_bytes": self._written_bytes,
            "influential_bytes": self._admission.influential_bytes,
        }, ()

    def prepare(self, *, draws: Sequence[Mapping[str, Any]]) -> Answer:
        """Make draws ahead that will be asked for, as many as memory bears.

        Args:
            draws: `weights` and `seed`, two seeds, and `kind`, in the order in which they will be used.
        """
        self._stock.clear()
        for planned in draws[: self._most_ahead()]:
            if planned["weights"] != self._weights_seed:
                self._move_weights(planned["weights"])
            key = (planned["weights"], planned["kind"], planned["seed"])
            self._stock[key] = self._try(planned["kind"], planned["seed"])
        self._end_phase()
        return {"prepared": len(self._stock)}, ()

    def weights(self, *, seed: int) -> Answer:
        """Move the weights; the new ones, for the candidate."""
        self._handout = None  # what a candidate of before may still write to
        state = self._move_weights(seed)
        layout = transport.Layout(self._device.alignment)
        parts = [(name, layout.place(tensor), tensor) for name, tensor in state.items()]
        region = self._device.create_inputs(
            layout.num_bytes, [(spec, tensor) for _, spec, tensor in parts]
        )
        specs = {name: asdict(spec) for name, spec, _ in parts}
        return {"region": asdict(region_spec(region)), "specs": specs}, (region.export(),)

    def draw(self, *, kind: str, seed: int, repeats: int) -> Answer:
        """Hidden inputs of one kind, to be called `repeats` times."""
        self._gate = None
        self._trial = None
        self._let_go()
        if self._is_large:  # nor does a candidate keep its regions, see `Candidate.run`
            self._handout = None
        made = self._stock.pop((self._weights_seed, kind, seed), None)
        if made is None:
            self._end_phase()
        self._trial = trial = made or self._try(kind, seed)
        self._end_phase()
        self._eager_is_due = True
        return self._hand_out([trial.draw.inputs] * repeats, trial.eager)

    def compare(self) -> Answer:
        """What the candidate delivered for the latest draw: findings of the worst repeat.

        Raises:
            WrongOutput: it has changed its inputs.
        """
        assert self._trial is not None
        assert self._handout is not None
        self._require_unchanged()
        # One copy at a time: a variable would hold the last while the next is made.
        findings = list(map(self._trial.judge, self._handout.delivered()))
        worst = min(findings, key=lambda f: (f.passed, -(f.error_ratio or 0.0)))
        return as_plain(worst), ()

    def baseline(self) -> Answer:
        """The best times ever of eager and of torch.compile; compiles and measures where needed."""
        best = self._timed.best()
        self._end_phase()
        return asdict(best), ()

    def work(self) -> Answer:
        """What the task asks of any submission in one call; None where that cannot be found out."""

        def find_out() -> Work:
            inputs = self._reference.make_inputs(_MODEL_SEED)
            tensors = (*tensors_in(inputs), *self._model.state_dict().values())
            dtypes = (transport.dtype_name(tensor.dtype) for tensor in tensors)
            return replace(
                work_of(self._model, inputs),
                number_format=number_format(dtypes, allow_tf32=self._task.allow_tf32),
            )

        try:
            return as_plain(known_work(self._records, self._key("work"), find_out)), ()
        except Exception:  # noqa: BLE001 - a task's own code may raise anything where it is watched
            return None, ()
        finally:
            self._end_phase()

    def probe(self) -> Answer:
        """Whether the device still works, by using it; bytes of its memory, and those that are free."""
        torch.ones(1, device=self._device.torch_device).add_(1.0)
        self._device.synchronise()
        free = free_bytes(self._device.torch_device)
        return {"free_bytes": free, "total_bytes": self._device.total_bytes()}, ()

    def rest(self) -> Answer:
        """Nobody is being judged: let go of draws and contents, for others may need the memory."""
        self._handout = self._trial = self._hidden = self._gate = None
        self._stock.clear()
        self._ran = []
        self._end_phase(most_kept=AHEAD_BYTES)
        return {}, ()

    def rates(self) -> Answer:
        """The most that this machine can do with as many threads as a race has."""
        with with_threads(self._num_threads):
            key = self._key("rates", task="")
            return as_plain(known_rates(self._records, key, self._device.torch_device)), ()

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
        ordinary = DrawKind.ORDINARY
        if self._trial is None or self._trial.draw.kind is not ordinary:
            self.draw(kind=ordinary.value, seed=seed, repeats=1)
        assert self._trial is not None
        self._let_go()
        if self._trial.draw.inputs:  # the first contents of a race: values are not needed any more
            self._trial = self._trial.emptied()
            self._end_phase()
        place = -1 if hidden is None else int(hidden["number"])
        make = self._reference.make_inputs
        with generators_kept(self._device.torch_device):
            batches = [[] if number == place else make(seed + number) for number in range(count)]
        if hidden is not None:
            inputs = self._hide(hidden["kind"], place, hidden["seed"])
            batches[place] = make(seed + place) if inputs is None else inputs
        self._gate = SealedGate() if sealed else None
        answer = self._hand_out(batches, self._trial.eager)
        self._device.evict_caches(self._handout.input_bytes if self._handout else 0)
        return answer

    def run(self, *, count: int, dropped: int, gate_ns: int) -> Answer:
        """Time the compiled model on the latest contents; what it returned is kept for `check`."""
        assert self._handout is not None
        calls = [self._handout.call(number) for number in called(count, dropped)]
        self._ran = []
        timed = self._timed.run(calls, gate_ns=gate_ns, and_eager=self._eager_is_due)
        self._ran = timed.kept[max(0, dropped - 1) :]
        self._first_timed = int(dropped > 0)
        self._eager_is_due = False
        self._device.evict_caches(self._handout.input_bytes)
        return {
            "call_ns": list(timed.call_ns),
            "host_ns": list(timed.host_ns),
            "num_ungated": timed.num_ungated,
        }, ()

    def gate(self) -> Answer:
        """A new gate before the sealed contents: the descriptor of its page."""
        assert self._gate is not None
        assert self._handout is not None
        num_outputs = sum(map(len, self._handout.specs))
        return {}, (self._gate.renew(num_outputs=num_outputs),)

    def witness(self, *, queue_s: float, most_s: float) -> Answer:
        """Open the gate when a block is queued behind it, and tell when its outputs were there.

        Args:
            queue_s: How long the block may take to be queued; then the gate opens all the same.
            most_s: How long it may take then; after that it is given up.
        """
        assert self._gate is not None
        seen = self._gate.witness(queue_s=queue_s, most_s=most_s)
        return asdict(seen), ()

    def rehearse(self, *, count: int, contents_bytes: int) -> Answer:
        """Find out what a sealed block takes without its calls, before there is a submission that could disturb that.

        Args:
            count: Of its calls, where memory bears so many.
            contents_bytes: What their inputs and outputs may take.
        """
        count = min(count, max(1, contents_bytes // max(1, self._content_bytes)))
        if self._device.sealing is not None and not self._empty.knows(count):
            with contextlib.suppress(MachineError):  # for want of memory: the first race does it
                self.contents(count=count, seed=_MODEL_SEED, sealed=True)
                assert self._handout is not None
                for _ in range(_REHEARSALS):
                    self._empty.measure_us(self._handout, count, queued=True)
            self.rest()
        return {}, ()

    def empty_block(self, *, count: int, queued: bool) -> Answer:
        """What a block of the sealed contents takes without its calls, in microseconds.

        Args:
            count: Of the calls.
            queued: Whether its gate opens when all is queued, or at once.
        """
        assert self._handout is not None
        return self._empty.measure_us(self._handout, count, queued=queued), ()

    def check(self, *, count: int) -> Answer:
        """Compare the candidate's outputs of a block with the compiled model's.

        Raises:
            WrongOutput: it has changed its inputs.
            Refused: outputs of a sealed block came after it was said to be over.
        """
        assert self._handout is not None
        assert self._trial is not None
        if self._gate is not None:
            self._gate.require_finished(self._device, self._handout.returned())
        self._require_unchanged()
        with with_threads(self._num_threads):
            worst = worst_output(
                self._handout,
                self._ran,
                self._trial.expected,
                count=self._first_timed + count,
                hidden=self._hidden,
            )
        return {"error_ratio": repr(worst.error_ratio), "kind": worst.kind}, ()

    @functools.cached_property
    def _content_bytes(self) -> int:
        """Inputs and outputs of one call."""
        inputs = tensors_in(self._reference.make_inputs(_MODEL_SEED))
        return self._written_bytes + sum(t.numel() * t.element_size() for t in inputs)

    def _move_weights(self, seed: int) -> dict[str, torch.Tensor]:
        self._model.load_state_dict(self._initial)
        state = perturbed_state(self._model, seed)
        self._model.load_state_dict(state)
        self._weights_seed = seed
        return state

    def _try(self, kind: str, seed: int) -> Trial:
        draw = draw_inputs(self._reference, DrawKind(kind), seed, self._admission.free_dimensions)
        return Trial.of(
            self._reference,
            self._model,
            draw,
            self._admission.indices,
            gold_chunks=self._admission.gold_chunks,
            keeps_eager=False,
        )

    def _hide(self, kind: str, place: int, seed: int) -> list[Any] | None:
        """Make a hidden draw for one of the contents; its inputs, or None where that fails."""
        trial = self._stock.pop((self._weights_seed, kind, seed), None)
        if trial is None:
            self._end_phase()
            with contextlib.suppress(TaskError, MachineError):
                trial = self._try(kind, seed)
        if trial is not None:
            self._hidden = HiddenContent(number=place, trial=trial)
            return trial.draw.inputs
        return None

    def _let_go(self) -> None:
        """Of what was made for the contents of before; only their regions are used again."""
        self._ran, self._hidden = [], None
        if self._handout is not None:
            self._handout = self._handout.emptied()

    def _end_phase(self, *, most_kept: int | None = None) -> None:
        """What comes next needs memory in other sizes: where a task is large, none is kept for it.

        Not between the blocks of a race, whose calls would have to get it anew.
        """
        if self._is_large:
            self._device.give_memory_back()
        elif most_kept is not None:
            self._device.give_memory_back(most_kept=most_kept)

    def _most_ahead(self) -> int:
        """How many draws may be held while one more is made."""
        expected = sum(map(_expected_bytes, self._admission.outputs))
        held = self._admission.peak_bytes - self._written_bytes + expected
        return max(0, self._device.spare_bytes() - _MAKING * expected) // max(1, held)

    def _require_unchanged(self) -> None:
        changed = self._handout.changed_input() if self._handout else None
        if changed is not None:
            raise WrongOutput(changed_input(*changed))

    def _admit(self) -> Admission:
        key = self._key("admission")
        if (record := load_record(self._records, key)) is not None:
            with contextlib.suppress(KeyError, ValueError, TypeError):
                return Admission.from_plain(record)
        admission = admit(self._reference, seed=_MODEL_SEED)
        save_record(self._records, key, admission.as_plain())
        return admission

    def _key(self, what: str, *, task: str | None = None) -> str:
        machine = zlib.crc32(self._device.name.encode())
        of = self._task.hash if task is None else task
        parts = (what, JUDGE_VERSION, of, torch.__version__, self._num_threads)
        return f"{'-'.join(map(str, parts))}-{machine:x}"

    def _hand_out(
        self, batches: Sequence[Sequence[Any]], outputs: Sequence[torch.Tensor]
    ) -> Answer:
        """Let go of what was handed out before, and hand out this."""
        key = None if self._gate is None else self._gate.key
        self._handout = handout = Handout.of(
            self._device, batches, outputs, earlier=self._handout, key=key
        )
        description = self._trial.draw.description if self._trial else ""
        return {**handout.as_plain(), "description": description}, handout.descriptors()


def _num_bytes(output: OutputSpec) -> int:
    return math.prod(output.shape) * int(getattr(torch, output.dtype).itemsize)


def _expected_bytes(output: OutputSpec) -> int:
    """Of what is compared with an output: at least single precision."""
    return math.prod(output.shape) * max(4, int(getattr(torch, output.dtype).itemsize))
