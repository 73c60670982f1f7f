"""The reference's side of a race: the compiled model, eager now and then, and the best times ever of both.

With neighbours both are slower, and nobody may earn that. So the best times are remembered, for this
machine and this number of threads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from cuda_gym.judge.profiling.baselines import Baseline, measured
from cuda_gym.judge.sandbox.baseline_model import compile_model
from cuda_gym.judge.sandbox.records import load_record, save_record
from cuda_gym.judge.sandbox.worker_device import TimedCalls, WorkerDevice
from cuda_gym.judge.verification.nests import flatten_outputs

__all__ = ["TimedReference", "with_threads"]

_CALLS = 8
_EAGER_CALLS = 3
_LARGER_THAN_A_CACHE = 128 << 20
_GATE_NS = 1_000_000


class TimedReference:
    """A task's model under torch.compile and in eager.

    Args:
        device: What they run on.
        model: In eager.
        make_inputs: Of a seed.
        num_threads: As many as a race has.
        peak_bytes: The most that eager holds in one call.
        records: Where best times are remembered.
        key: Under which name.
    """

    def __init__(
        self,
        device: WorkerDevice,
        model: torch.nn.Module,
        make_inputs: Callable[[int], list[Any]],
        *,
        num_threads: int,
        peak_bytes: int,
        records: Path,
        key: str,
    ) -> None:
        self._device = device
        self._model = model
        self._make_inputs = make_inputs
        self._num_threads = num_threads
        self._peak_bytes = peak_bytes
        self._records = records
        self._key = key
        self._compiled: Callable[..., Any] | None = None
        self._best: Baseline | None = None

    def best(self) -> Baseline:
        """The best times ever; compiles and measures where needed."""
        compiled = self._compile()
        if self._best is None:
            self._best = Baseline.from_plain(load_record(self._records, self._key))
        if self._best is None:
            self._best = measured(lambda number: self._measure_once(compiled, 100 * number))
            save_record(self._records, self._key, asdict(self._best))
        return self._best

    def run(
        self, calls: Sequence[Sequence[Any]], *, gate_ns: int, and_eager: bool
    ) -> TimedCalls[list[torch.Tensor]]:
        """Time the compiled model, which was compiled before.

        Args:
            calls: The arguments of each call.
            gate_ns: How long the device waits before each.
            and_eager: Whether eager runs on the last of them, too; its time is remembered, not raced.
        """
        assert self._compiled is not None
        with with_threads(self._num_threads):
            timed = self._time(self._compiled, calls, gate_ns=gate_ns)
            if and_eager:
                self._device.evict_caches()
                last = calls[-_EAGER_CALLS:]
                eager = self._time(self._model, last, gate_ns=gate_ns, keep=self._keep_few)
                self._remember(eager_us=_fastest_us(eager), compile_us=_fastest_us(timed))
        return timed

    def _compile(self) -> Callable[..., Any]:
        if self._compiled is None:
            inputs = self._make_inputs(0)
            with with_threads(self._num_threads):
                self._compiled = compile_model(self._model, inputs)
        return self._compiled

    def _time(
        self,
        model: Callable[..., Any],
        calls: Sequence[Sequence[Any]],
        *,
        gate_ns: int,
        keep: Callable[[int, Any], list[torch.Tensor]] | None = None,
    ) -> TimedCalls[list[torch.Tensor]]:
        """Call a model; its outputs are copied away, and held as a candidate's are."""
        held: list[Any] = []

        def take(number: int, value: Any) -> list[torch.Tensor]:
            if self._device.outputs_stay and self._peak_bytes <= _LARGER_THAN_A_CACHE:
                held.append(value)  # but not what fills the machine
            return (keep or _copies)(number, value)

        return self._device.timed_calls(
            lambda arguments: model(*arguments), calls, keep=take, gate_ns=gate_ns
        )

    def _keep_few(self, number: int, value: Any) -> list[torch.Tensor]:
        """Copies that nobody will look at: what no cache holds is let go of at once."""
        copies = _copies(number, value)
        return [] if self._peak_bytes > _LARGER_THAN_A_CACHE else copies

    def _remember(self, *, eager_us: float, compile_us: float) -> None:
        known = self._best
        if known is None:
            return
        best = known.or_better(Baseline(eager_us=eager_us, compile_us=compile_us))
        if best.eager_us < 0.95 * known.eager_us or best.compile_us < 0.95 * known.compile_us:
            self._best = best
            save_record(self._records, self._key, asdict(best))

    def _measure_once(self, compiled: Callable[..., Any], seed: int) -> Baseline:
        """A function of its own, so that its contents are gone before the next are made."""
        calls = [self._make_inputs(seed + number) for number in range(self._num_calls())]
        fastest_us = []
        for model in (self._model, compiled):
            self._device.evict_caches()
            with with_threads(self._num_threads):
                timed = self._time(model, calls, gate_ns=_GATE_NS, keep=self._keep_few)
            fastest_us.append(min(timed.call_ns[-6:]) / 1000.0)
            del timed
        return Baseline(eager_us=fastest_us[0], compile_us=fastest_us[1])

    def _num_calls(self) -> int:
        """Fewer where the inputs and outputs of a call are large."""
        return max(2, min(_CALLS, self._device.spare_bytes() // max(1, self._peak_bytes)))


@contextlib.contextmanager
def with_threads(num_threads: int) -> Iterator[None]:
    """For what is timed.

    Everything else runs on one thread: a second one spins between the operators, and where
    another process wants its core each of them then waits for milliseconds.
    """
    torch.set_num_threads(num_threads)
    try:
        yield
    finally:
        torch.set_num_threads(1)


def _copies(_number: int, value: Any) -> list[torch.Tensor]:
    """The outputs of a call, copied away."""
    return [tensor.clone() for tensor in flatten_outputs(value)[0]]


def _fastest_us(timed: TimedCalls[Any]) -> float:
    return min(timed.call_ns) / 1000.0
