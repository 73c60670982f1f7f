"""What runs inside a candidate process: the submission, and a thin harness around it.

The process holds no expected output, no seed and no tolerance. It is given sources, weights and
inputs, and gives back outputs; whatever else it says (durations, numbers of launches) is a claim,
since from the import of `model_new.py` on the submission shares the interpreter with the harness.
"""

from __future__ import annotations

import contextlib
import gc
import linecache
import mmap
import os
import sys
import time
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from cuda_gym.errors import WrongOutput
from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.channel import Channel, ChannelClosed
from cuda_gym.judge.sandbox.kernel_clock import KernelClock
from cuda_gym.judge.sandbox.memory_check import MemoryCheck
from cuda_gym.judge.sandbox.model_state import check_state
from cuda_gym.judge.sandbox.outputs import OutputSink
from cuda_gym.judge.sandbox.protocol import Failed, Load, Loaded, Ran, Reload, Run, TensorSpec
from cuda_gym.judge.sandbox.telling import (
    MODEL_FILE,
    Told,
    describe,
    own_place,
    place_of_return,
    told,
)
from cuda_gym.judge.sandbox.torch_operators import refuse_torch_operators
from cuda_gym.judge.toolchains.cuda_extension import make_extension
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
from cuda_gym.judge.toolchains.direct_kernels import DirectKernel
from cuda_gym.judge.toolchains.launchers import Launcher


def serve(channel: Channel, *, isolation: str) -> None:
    """Answer the judge until it hangs up."""
    candidate = Candidate(isolation)
    while True:
        try:
            message, descriptors = channel.receive(Load, Reload, Run)
        except ChannelClosed:
            return
        reply: Loaded | Ran | Failed
        try:
            if isinstance(message, Load):
                reply = candidate.load(message, descriptors[0])
            elif isinstance(message, Reload):
                reply = candidate.reload(message, descriptors[0])
            else:
                reply = candidate.run(message, *descriptors)
        except Told as told:
            reply = Failed(kind=told.kind, message=str(told))
        except WrongOutput as wrong:
            reply = Failed(kind="wrong", message=str(wrong))
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        sys.stdout.flush()
        channel.send(reply)


class Candidate:
    """One submission in this process."""

    def __init__(self, isolation: str) -> None:
        self._isolation = isolation
        self._model: torch.nn.Module | None = None
        self._runtime: Runtime | None = None
        self._check: MemoryCheck | None = None
        self._sink: tuple[int, OutputSink] | None = None
        self._library_calls = 0
        self._kernel_clock = KernelClock()
        self._refused: str | None = None

    def load(self, message: Load, descriptor: int) -> Loaded:
        """Import the submission, construct its model, load the weights, forbid the operators."""
        torch.set_num_threads(message.num_threads)
        with told("loading the compiled kernels"):
            self._install_extension(message)
        module = types.ModuleType("model_new")
        sys.modules["model_new"] = module
        linecache.cache[MODEL_FILE] = (
            len(message.source), None, message.source.splitlines(keepends=True), MODEL_FILE,
        )  # fmt: skip
        with told("importing model_new.py"):
            exec(compile(message.source, MODEL_FILE, "exec"), module.__dict__)
        arguments = transport.decode_tree(message.init_args, None)
        with told("constructing ModelNew"):
            model = module.ModelNew(*arguments)
            if not isinstance(model, torch.nn.Module):
                raise TypeError(f"ModelNew is no torch.nn.Module but a {type(model).__name__}.")
            self._model = model.eval()
        prepare_ns = self._load_weights(message.weights, descriptor)
        refused = refuse_torch_operators(on_refusal=self._note_refusal)
        return Loaded(isolation=self._isolation, prepare_ns=prepare_ns, operators_refused=refused)

    def reload(self, message: Reload, descriptor: int) -> Loaded:
        """Other weights in the same model: what was derived from the old ones is stale."""
        prepare_ns = self._load_weights(message.weights, descriptor)
        return Loaded(isolation=self._isolation, prepare_ns=prepare_ns, operators_refused=0)

    def run(self, message: Run, inputs: int, outputs: int) -> Ran:
        """Call forward for each list of inputs; copy each result out before the next call."""
        region = transport.map_region(inputs)
        sink = self._sink_of(outputs)
        calls = [transport.decode_tree(tree, region) for tree in message.inputs]
        if message.dry:
            return _run_dry(message.outputs, sink)
        assert self._model is not None
        launches = self._runtime.num_launches() if self._runtime else 0
        library_calls = self._library_calls
        # What torch.use_deterministic_algorithms does, without its import of the whole compiler.
        poison = message.poison and self._check is None
        torch._C._set_deterministic_algorithms(poison, warn_only=True)
        if self._runtime is not None:
            self._runtime.poison_shared_memory(poison)
        input_span = sink.span_of(region)
        durations, kernels = [], []
        with _collected_later(), torch.no_grad():
            for arguments, specs in zip(calls, message.outputs, strict=True):
                if message.time_kernels:
                    self._kernel_clock.start()
                value, duration = self._call(arguments)
                durations.append(duration)
                if message.time_kernels:
                    kernels.append(self._kernel_clock.stop())
                if self._check is not None:
                    self._check.require_written(value, self._library_calls - library_calls)
                try:
                    sink.take(value, specs, input_span)
                except WrongOutput as wrong:
                    raise WrongOutput(f"{place_of_return()}: {wrong}") from None
                del value  # its memory is the next call's
        if message.poison:
            _check_unchanged(region, inputs, message.inputs)
        return Ran(
            call_ns=tuple(durations),
            launches=(self._runtime.num_launches() if self._runtime else 0) - launches,
            library_calls=self._library_calls - library_calls,
            findings="" if self._check is None else self._check.findings(),
            kernels=kernels[durations.index(min(durations))] if kernels else (),
        )

    def _sink_of(self, outputs: int) -> OutputSink:
        """The output region; one that was used before is mapped already."""
        inode = os.fstat(outputs).st_ino
        if self._sink is None or self._sink[0] != inode:
            self._sink = (inode, OutputSink(transport.map_region(outputs, shared=True)))
        return self._sink[1]

    def _call(
        self, arguments: Sequence[Any], clock: Callable[[], int] = time.perf_counter_ns
    ) -> tuple[Any, int]:
        model = self._model
        assert model is not None
        try:
            start = clock()
            value = model(*arguments)
            duration = clock() - start
        except BaseException as error:  # noqa: BLE001 - a submission may raise anything
            if self._check is not None and self._check.findings():
                raise Told("found", self._check.findings()) from None
            if self._refused is not None:
                raise Told("refused", self._refused) from None
            raise Told("raised", describe(error, "forward")) from None
        if self._refused is not None:
            raise Told("refused", self._refused)
        return value, duration

    def _install_extension(self, message: Load) -> None:
        if not message.library:
            return
        self._runtime = self._kernel_clock.runtime = runtime = Runtime(message.library)
        runtime.set_num_threads(message.num_threads)
        runtime.install_fault_handler(2)
        if runtime.is_checking:
            self._check = MemoryCheck(runtime, most_blocks=message.check_blocks)
        sys.modules["cuda_extension"] = make_extension(
            tuple(Launcher.from_plain(plain) for plain in message.launchers),
            runtime.library,
            device=torch.device("cpu"),
            stream=lambda: 0,
            take_error=runtime.take_error,
            allowed_library=message.allowed_library,
            on_library_call=self._note_library_call,
            on_tensor=None if self._check is None else self._check.note,
            timed=self._kernel_clock.timed,
            kernels=tuple(DirectKernel.from_plain(plain) for plain in message.kernels),
        )

    def _load_weights(self, specs: Mapping[str, TensorSpec], descriptor: int) -> int | None:
        model = self._model
        assert model is not None
        region = transport.map_region(descriptor)
        own = model.state_dict()
        check_state(own, specs)
        for name, spec in specs.items():
            _overwrite(own[name], transport.tensor_in(region, spec))
        prepare = getattr(model, "prepare", None)
        if prepare is None:
            return None
        with told("prepare()"), torch.no_grad():
            start = time.perf_counter_ns()
            prepare()
        return time.perf_counter_ns() - start

    def _note_library_call(self, _name: str) -> None:
        self._library_calls += 1

    def _note_refusal(self, name: str, advice: str) -> None:
        self._refused = self._refused or (f"forward called {name}; {advice}\n  {own_place()}")


@contextlib.contextmanager
def _collected_later() -> Any:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _overwrite(tensor: torch.Tensor, source: torch.Tensor) -> None:
    """Copy without a torch operator: after the first load they are all refused."""
    as_array(tensor)[...] = as_array(source)


def as_array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """The tensor's memory as a numpy array; bfloat16, which numpy lacks, as 16-bit integers."""
    plain = tensor.detach()
    return (plain.view(torch.int16) if plain.dtype is torch.bfloat16 else plain).numpy()


def _check_unchanged(region: mmap.mmap, descriptor: int, trees: Sequence[Any]) -> None:
    """The inputs are the judge's: a submission works on what it allocates."""
    clean = transport.map_region(descriptor)
    if np.array_equal(np.frombuffer(region, np.uint8), np.frombuffer(clean, np.uint8)):
        return
    for tree in trees:
        mine, theirs = (
            transport.flatten_outputs(transport.decode_tree(tree, r)) for r in (region, clean)
        )
        for number, (tensor, original) in enumerate(zip(mine, theirs, strict=True)):
            if isinstance(tensor, torch.Tensor):
                changed = as_array(tensor) != as_array(original)
                if changed.any():
                    raise WrongOutput(
                        f"forward changed {int(changed.sum()):,} elements of its input {number}. "
                        "Write to a tensor that you allocate."
                    )


def _run_dry(outputs: Sequence[Sequence[TensorSpec]], sink: OutputSink) -> Ran:
    """All that `run` does, with a call that only fills its outputs: what the protocol costs.

    They are filled so that what is copied has just been written, as after a real call.
    """
    durations = []
    with _collected_later():
        scratch = [sink.scratch(spec) for spec in outputs[0]] if outputs else []
        arrays = [as_array(tensor) for tensor in scratch]
        for number, specs in enumerate(outputs):
            start = time.perf_counter_ns()
            for array in arrays:
                array.fill(number % 2)
            durations.append(time.perf_counter_ns() - start)
            sink.take(scratch, specs, (0, 0))
    return Ran(call_ns=tuple(durations), launches=0, library_calls=0, findings="")
