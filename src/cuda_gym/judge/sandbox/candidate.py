"""What runs inside a candidate process: the submission, and a thin harness around it.

The process holds no expected output, no seed and no tolerance. It is given sources, weights and
inputs, and gives back outputs; whatever else it says (durations, numbers of launches) is a claim,
since from the import of `model_new.py` on the submission shares the interpreter with the harness.
"""

from __future__ import annotations

import linecache
import sys
import time
import types
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from cuda_gym.errors import WrongOutput
from cuda_gym.judge.profiling.memory_budget import LARGE_BYTES
from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.closed_code import close_code
from cuda_gym.judge.sandbox.copied_region import CopiedRegion
from cuda_gym.judge.sandbox.device_faults import fault_during
from cuda_gym.judge.sandbox.dry_run import run_dry
from cuda_gym.judge.sandbox.kept_outputs import KeptOutputs
from cuda_gym.judge.sandbox.kernel_clock import KernelClock
from cuda_gym.judge.sandbox.limits import forbid_new_code
from cuda_gym.judge.sandbox.loaded_kernels import LoadedKernels, load_kernels
from cuda_gym.judge.sandbox.messages import (
    Forbidden,
    KernelClaim,
    Load,
    Loaded,
    Ran,
    RegionSpec,
    Reload,
    Rested,
    Run,
    TensorSpec,
)
from cuda_gym.judge.sandbox.model_state import check_state, own_state
from cuda_gym.judge.sandbox.outputs import OutputSink, require_unchanged
from cuda_gym.judge.sandbox.regions import Region
from cuda_gym.judge.sandbox.sealed_calls import call_sealed
from cuda_gym.judge.sandbox.sealed_page import SealedPage
from cuda_gym.judge.sandbox.telling import (
    MODEL_FILE,
    Told,
    failed,
    own_place,
    place_of_return,
    told,
)
from cuda_gym.judge.sandbox.torch_operators import refuse_torch_operators
from cuda_gym.judge.sandbox.worker_device import WorkerDevice


class Candidate:
    """One submission in this process."""

    def __init__(self, device: WorkerDevice, *, own_inputs: bool = False) -> None:
        self._device = device
        self._own_inputs = own_inputs
        self._model: torch.nn.Module | None = None
        self._kernels: LoadedKernels | None = None
        self._regions: dict[int, Region] = {}
        """The latest two that were opened, by number."""
        self._layout: tuple[Any, Sequence[Any], OutputSink] | None = None
        self._kernel_clock = KernelClock()
        self._kernel_times: list[tuple[KernelClaim, ...]] = []
        self._refused: str | None = None
        self._kept = KeptOutputs(device)

    def load(self, message: Load) -> Loaded:
        """Import the submission, construct its model."""
        device = self._device.torch_device
        torch.set_num_threads(message.num_threads)
        with told("loading the compiled kernels"):
            self._kernels = load_kernels(message, device, self._kernel_clock)
        # A GPU's driver loads code when it is needed, and the library of the cpu device compiles.
        self._closes_code = device.type == "cpu" and not message.allowed_library
        if self._closes_code:
            forbid_new_code()
            torch._C._set_mkldnn_enabled(False)  # it compiles; a model may compute while it is made
        module = types.ModuleType("model_new")
        sys.modules["model_new"] = module
        linecache.cache[MODEL_FILE] = (
            len(message.source), None, message.source.splitlines(keepends=True), MODEL_FILE,
        )  # fmt: skip
        with told("importing model_new.py"):
            exec(compile(message.source, MODEL_FILE, "exec"), module.__dict__)
        with told("constructing ModelNew"), device:
            model = module.ModelNew(*transport.decode_tree(message.init_args, None))
            if not isinstance(model, torch.nn.Module):
                raise TypeError(f"ModelNew is no torch.nn.Module but a {type(model).__name__}.")
            self._model = model.to(device).eval()
            self._device.synchronise()
        return Loaded(prepare_ns=None)

    def forbid(self) -> Forbidden:
        """Leave nothing that computes but the submission's kernels."""
        refuse_torch_operators(self._device.torch_device.type, on_refusal=self._note_refusal)
        if self._closes_code:
            close_code()
        return Forbidden()

    def reload(self, message: Reload, descriptor: int) -> Loaded:
        """Other weights in the same model: what was derived from the old ones is stale."""
        return Loaded(prepare_ns=self._load_weights(message.weights, message.region, descriptor))

    def run(self, message: Run, inputs: int, outputs: int, page: int | None = None) -> Ran:
        """Call forward for each list of inputs; copy each result out before the next call, or let all stay."""
        given = self._region(message.input_region, inputs, is_output=False)
        room = None
        if not message.stays:
            room = self._region(message.output_region, outputs, is_output=True)
        self._device.forget_writes(given, is_timed=not message.poison)
        self._kept.let_go()
        calls, sink = self._laid_out(message, given, room)
        with fault_during("" if message.dry else "forward"):
            if message.dry:
                ran = run_dry(message, sink, self._device, self._kept)
            elif page is not None:
                ran = self._run_sealed(page, given, calls, sink)
            else:
                ran = self._run(message, calls, sink)
        if room is not None:
            self._kept.let_go()
            self._device.publish(room)
        if message.poison:
            original = self._device.original(given)
            if original is not None:
                require_unchanged(self._device, message.inputs, given, original)
            if message.input_region.num_bytes + message.output_region.num_bytes > LARGE_BYTES:
                self._close_regions()  # room for what the next draw expects
        return ran

    def describe_fault(self, fault: str) -> str:
        """A fault of the device in the words of the submission."""
        return fault if self._kernels is None else self._kernels.describe_fault(fault)

    def rest(self) -> Rested:
        """Hold no memory that somebody else may need."""
        self._kept.let_go()
        self._close_regions()
        self._device.give_memory_back(most_kept=LARGE_BYTES)
        return Rested()

    def _close_regions(self) -> None:
        self._layout = None
        self._regions.clear()

    def _laid_out(
        self, message: Run, given: Region, room: Region | None
    ) -> tuple[Sequence[Any], OutputSink]:
        """The arguments of the calls and the places of their outputs; those of before if they are equal.

        What the blocks of a race share is not laid out again under the judge's clock.
        """
        layout = (
            message.input_region,
            message.inputs,
            room and message.output_region,
            message.outputs,
        )
        if self._layout is None or self._layout[0] != layout or self._own_inputs:
            source = CopiedRegion(given, self._device) if self._own_inputs else given
            calls = [transport.decode_tree(tree, source) for tree in message.inputs]
            target = room.tensor if room else transport.form_of  # of what stays only that is asked
            targets = [[target(spec) for spec in specs] for specs in message.outputs]
            sink = OutputSink(self._device, targets, inputs=(given.address, given.num_bytes))
            self._layout = layout, calls, sink
        return self._layout[1:]

    def _run_sealed(self, page: int, given: Region, calls: Sequence[Any], sink: OutputSink) -> Ran:
        """All calls behind the gate of a page."""
        sealing, kernels = self._device.sealing, self._kernels
        assert sealing is not None
        launches, library_calls = kernels.counts() if kernels else (0, 0)
        host_ns = call_sealed(
            self._call,
            calls,
            sink,
            sealing=sealing,
            page=SealedPage.open(page),
            inputs=given,
            held=self._kept,
        )
        self._device.synchronise()
        num_launches, num_library_calls = kernels.counts() if kernels else (0, 0)
        return Ran(
            call_ns=host_ns,
            host_ns=host_ns,
            launches=num_launches - launches,
            library_calls=num_library_calls - library_calls,
            findings="",
        )

    def _run(self, message: Run, calls: Sequence[Any], sink: OutputSink) -> Ran:
        kernels = self._kernels
        launches, library_calls = kernels.counts() if kernels else (0, 0)
        check = kernels.check if kernels else None
        poison = message.poison and check is None
        # What torch.use_deterministic_algorithms does, without its import of the whole compiler.
        torch._C._set_deterministic_algorithms(poison, warn_only=True)
        if kernels is not None:
            kernels.poison_shared_memory(poison)
        self._kernel_times = []

        def keep(number: int, value: Any) -> None:
            if message.poison:
                self._device.synchronise()
                self._kept.note(value)
            if message.time_kernels:
                self._kernel_times.append(self._kernel_clock.stop())
            if check is not None and kernels is not None:
                check.require_written(value, kernels.counts()[1] - library_calls)
            try:
                self._kept.keep(sink, number, value) if message.stays else sink.take(number, value)
            except WrongOutput as wrong:
                raise WrongOutput(f"{place_of_return()}: {wrong}") from None

        forward = self._timed_call if message.time_kernels else self._call
        # What is copied in a sealed block is copied here, too: both clocks see the same.
        seals = self._device.sealing is not None
        copies = message.stays or (seals and not message.poison)
        call = self._kept.call(forward, in_a_row=seals) if copies else forward
        timed = self._device.timed_calls(call, calls, keep=keep, gate_ns=message.gate_ns)
        num_launches, num_library_calls = kernels.counts() if kernels else (0, 0)
        fastest = timed.call_ns.index(min(timed.call_ns)) if timed.call_ns else 0
        return Ran(
            call_ns=timed.call_ns,
            host_ns=timed.host_ns,
            num_ungated=timed.num_ungated,
            launches=num_launches - launches,
            library_calls=num_library_calls - library_calls,
            findings="" if check is None else check.findings(),
            kernels=self._kernel_times[fastest] if self._kernel_times else (),
            places=self._kept.places,
        )

    def _region(self, spec: RegionSpec, descriptor: int, *, is_output: bool) -> Region:
        """The region of a number; one that was used before is open already."""
        region = self._regions.pop(spec.number, None)
        if region is None:
            self._layout = None
            region = self._device.open_region(spec, descriptor, is_output=is_output)
        self._regions[spec.number] = region
        while len(self._regions) > 2:
            del self._regions[next(iter(self._regions))]
        return region

    def _timed_call(self, arguments: Sequence[Any]) -> Any:
        self._kernel_clock.start()
        return self._call(arguments)

    def _call(self, arguments: Sequence[Any]) -> Any:
        model = self._model
        assert model is not None
        try:
            value = model(*arguments)
        except BaseException as error:  # noqa: BLE001 - a submission may raise anything
            check = self._kernels.check if self._kernels else None
            if check is not None and check.findings():
                raise Told("found", check.findings()) from None
            if self._refused is not None:
                raise Told("refused", self._refused) from None
            raise failed(error, "forward") from None
        if self._refused is not None:
            raise Told("refused", self._refused)
        kernels = self._kernels
        trouble = None if kernels is None or kernels.tells_errors else kernels.take_error()
        if trouble:
            raise Told("raised", f"forward: {trouble}", "forward")
        return value

    def _load_weights(
        self, specs: Mapping[str, TensorSpec], region: RegionSpec, descriptor: int
    ) -> int | None:
        model = self._model
        assert model is not None
        weights = self._device.open_region(region, descriptor, is_output=False)
        own = own_state(model)
        check_state(own, specs)
        for name, spec in specs.items():
            self._device.copy(own[name].detach(), weights.tensor(spec))
        self._device.synchronise()
        prepare = getattr(model, "prepare", None)
        if prepare is None:
            return None
        with told("prepare()"), torch.no_grad():
            start = time.perf_counter_ns()
            prepare()
            self._device.synchronise()
        return time.perf_counter_ns() - start

    def _note_refusal(self, name: str, advice: str) -> None:
        self._refused = self._refused or (f"forward called {name}; {advice}\n  {own_place()}")
