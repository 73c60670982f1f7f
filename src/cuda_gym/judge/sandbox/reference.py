"""What runs inside a reference process: the task's own module, which is trusted.

It makes the hidden inputs and knows what comes out of them, compares what a candidate delivered,
and is the other side of every race: torch.compile on the same contents. One process a task; nothing
of a candidate is ever run, opened or unpickled here, and its outputs are copied before they are
looked at.

    draw_stock       hidden draws, under weights that move
    exchange         what is handed out to a candidate, and what comes back
    timed_contents   the blocks of a race
"""

from __future__ import annotations

import contextlib
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
from cuda_gym.judge.profiling.memory_budget import AHEAD_BYTES
from cuda_gym.judge.profiling.roofline import number_format
from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.ceilings import known_rates, known_work
from cuda_gym.judge.sandbox.device_opening import open_worker_device
from cuda_gym.judge.sandbox.draw_stock import DrawStock, MovingWeights
from cuda_gym.judge.sandbox.empty_blocks import EmptyBlocks
from cuda_gym.judge.sandbox.exchange import Answer, Exchange
from cuda_gym.judge.sandbox.handout import region_spec
from cuda_gym.judge.sandbox.messages import Tree
from cuda_gym.judge.sandbox.records import load_record, save_record
from cuda_gym.judge.sandbox.task_memory import TaskMemory
from cuda_gym.judge.sandbox.timed_contents import TimedContents
from cuda_gym.judge.sandbox.timed_reference import TimedReference, with_threads
from cuda_gym.judge.sandbox.worker_device import WorkerDevice
from cuda_gym.judge.verification.admission import Admission, admit
from cuda_gym.judge.verification.allocation import free_bytes
from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.nests import tensors_in
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.work import work_of

_MODEL_SEED = 0


class Reference:
    """One task in this process."""

    def __init__(self) -> None:
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
        self._weights = MovingWeights(self._reference.make_model(_MODEL_SEED))
        self._admission = self._admit()
        self._memory = TaskMemory(self._device, self._admission)
        self._memory.end_phase()
        self._stock = DrawStock(self._reference, self._weights, self._admission, self._memory)
        self._exchange = Exchange(self._device, self._stock, self._memory)
        self._compiled = self._timed_reference()
        self.timed = self._timed_contents()
        """The blocks of a race."""
        return self._opened(), ()

    def prepare(self, *, draws: Sequence[Mapping[str, Any]]) -> Answer:
        """Make draws ahead that will be asked for, as many as memory bears.

        Args:
            draws: `weights` and `seed`, two seeds, and `kind`, in the order in which they will be used.
        """
        return {"prepared": self._stock.prepare(draws)}, ()

    def weights(self, *, seed: int) -> Answer:
        """Move the weights; the new ones, for the candidate."""
        self._exchange.let_go_of_regions()
        state = self._weights.move(seed)
        layout = transport.Layout(self._device.alignment)
        parts = [(name, layout.place(tensor), tensor) for name, tensor in state.items()]
        region = self._device.create_inputs(
            layout.num_bytes, [(spec, tensor) for _, spec, tensor in parts]
        )
        specs = {name: asdict(spec) for name, spec, _ in parts}
        return {"region": asdict(region_spec(region)), "specs": specs}, (region.export(),)

    def draw(self, *, kind: str, seed: int, repeats: int) -> Answer:
        """Hidden inputs of one kind, to be called `repeats` times."""
        self.timed.begin()
        self._exchange.hand_out_draw(kind, seed, repeats=repeats)
        return self._exchange.answer()

    def compare(self) -> Answer:
        """What the candidate delivered for the latest draw: findings of the worst repeat.

        Raises:
            WrongOutput: it has changed its inputs.
        """
        return as_plain(self._exchange.judge_draw()), ()

    def baseline(self) -> Answer:
        """The best times ever of eager and of torch.compile; compiles and measures where needed."""
        best = self._compiled.best()
        self._memory.end_phase()
        return asdict(best), ()

    def work(self) -> Answer:
        """What the task asks of any submission in one call; None where that cannot be found out."""

        def find_out() -> Work:
            inputs, model = self._reference.make_inputs(_MODEL_SEED), self._weights.model
            tensors = (*tensors_in(inputs), *model.state_dict().values())
            dtypes = (transport.dtype_name(tensor.dtype) for tensor in tensors)
            return replace(
                work_of(model, inputs),
                number_format=number_format(dtypes, allow_tf32=self._task.allow_tf32),
            )

        try:
            return as_plain(known_work(self._records, self._key("work"), find_out)), ()
        except Exception:  # noqa: BLE001 - a task's own code may raise anything where it is watched
            return None, ()
        finally:
            self._memory.end_phase()

    def probe(self) -> Answer:
        """Whether the device still works, by using it; bytes of its memory, and those that are free."""
        torch.ones(1, device=self._device.torch_device).add_(1.0)
        self._device.synchronise()
        free = free_bytes(self._device.torch_device)
        return {"free_bytes": free, "total_bytes": self._device.total_bytes()}, ()

    def rest(self) -> Answer:
        """Nobody is being judged: let go of draws and contents, for others may need the memory."""
        self._exchange.clear()
        self._stock.clear()
        self.timed.let_go()
        self._memory.end_phase(most_kept=AHEAD_BYTES)
        return {}, ()

    def rates(self) -> Answer:
        """The most that this machine can do with as many threads as a race has."""
        with with_threads(self._num_threads):
            key = self._key("rates", task="")
            return as_plain(known_rates(self._records, key, self._device.torch_device)), ()

    def rehearse(self, *, count: int, contents_bytes: int) -> Answer:
        """Find out what a sealed block takes without its calls, before there is a submission that could disturb that.

        Args:
            count: Of its calls, where memory bears so many.
            contents_bytes: What their inputs and outputs may take.
        """
        rehearsed = self.timed.rehearse(count=count, contents_bytes=contents_bytes)
        # If not, draws that were made ahead are still to come.
        return self.rest() if rehearsed else ({}, ())

    def _admit(self) -> Admission:
        key = self._key("admission")
        if (record := load_record(self._records, key)) is not None:
            with contextlib.suppress(KeyError, ValueError, TypeError):
                return Admission.from_plain(record)
        admission = admit(self._reference, seed=_MODEL_SEED)
        if not admission.lacked_memory:  # the next one to open the task may find more
            save_record(self._records, key, admission.as_plain())
        return admission

    def _timed_reference(self) -> TimedReference:
        return TimedReference(
            self._device,
            self._weights.model,
            self._reference.make_inputs,
            num_threads=self._num_threads,
            peak_bytes=self._admission.peak_bytes,
            records=self._records,
            key=self._key("baseline"),
        )

    def _timed_contents(self) -> TimedContents:
        empty = EmptyBlocks(self._device, records=self._records, key=self._key("empty blocks"))
        return TimedContents(
            self._device,
            self._exchange,
            self._stock,
            self._memory,
            self._reference.make_inputs,
            compiled=self._compiled,
            empty=empty,
            num_threads=self._num_threads,
        )

    def _opened(self) -> Tree:
        """What the judge needs to know of the task."""
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
            "written_bytes": self._memory.written_bytes,
            "influential_bytes": self._admission.influential_bytes,
        }

    def _key(self, what: str, *, task: str | None = None) -> str:
        machine = zlib.crc32(self._device.name.encode())
        of = self._task.hash if task is None else task
        parts = (what, JUDGE_VERSION, of, torch.__version__, self._num_threads)
        return f"{'-'.join(map(str, parts))}-{machine:x}"
