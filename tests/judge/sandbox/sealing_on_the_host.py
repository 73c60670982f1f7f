"""The kernels of `sealing.cu` on the host: a thread is the stream that they and copies are given to."""

from __future__ import annotations

import contextlib
import ctypes
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from cuda_gym.core.task import Submission
from cuda_gym.judge.sandbox import cuda_sealing
from cuda_gym.judge.sandbox.cuda_sealing import CudaSealing
from cuda_gym.judge.toolchains import own_kernels
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime

__all__ = ["Stream", "sealing_on_the_host"]

_SOURCE = Path(own_kernels.__file__).with_name("sealing.cu").read_text("utf-8")
_DECLARED = {
    "hold": "volatile Word* page, Word* state, Word most_cycles",
    "seal": "Word* words, Word count, const Word* state, Word first",
    "sum_up": "const Output* outputs, Word num_outputs, Word num_units, Block* digests",
    "fold": "const Block* digests, Word num_units, Word* state",
    "tell": "volatile Word* page, const Word* state",
}


class Stream:
    """Does one thing after the other, later."""

    def __init__(self) -> None:
        self._given: queue.Queue[Callable[[], object]] = queue.Queue()
        threading.Thread(target=self._work, daemon=True).start()

    def give(self, work: Callable[[], object]) -> None:
        """Let it do something when all before is done."""
        self._given.put(work)

    def wait(self) -> None:
        """Until all of it is done."""
        self._given.join()

    def end(self) -> None:
        """Take nothing more."""
        self._given.put(self._stop)

    def _work(self) -> None:
        with contextlib.suppress(SystemExit):
            while True:
                try:
                    self._given.get()()
                finally:
                    self._given.task_done()

    def _stop(self) -> None:
        raise SystemExit


class _Kernels:
    """As `CudaKernels`, and as the driver behind it."""

    most_blocks = 3
    stream = 0

    def __init__(self, runtime: Runtime, stream: Stream, arguments: dict[str, Any]) -> None:
        self._runtime, self._stream, self._arguments = runtime, stream, arguments
        self.driver = self
        self._is_held = False

    def launch(self, name: str, blocks: int, threads: int, *arguments: int) -> None:
        given = [t(a) for t, a in zip(self._arguments[name], arguments, strict=True)]
        run = self._runtime.library[f"run_{name}"]
        self._stream.give(lambda: run(ctypes.c_int(blocks), ctypes.c_int(threads), *given))
        self._is_held |= name == "hold"
        if not self._is_held:  # torch, which is not in the stream, reads it next
            self._stream.wait()

    def call(self, name: str, *arguments: int) -> None:
        if name == "cuMemcpyHtoDAsync_v2":
            self._stream.give(lambda: ctypes.memmove(*arguments[:3]))

    def pointer(self, _name: str, address: int, _flags: int) -> int:
        return address

    def __getitem__(self, name: str) -> Callable[..., int]:
        def call(*_: int) -> int:
            if name == "cuCtxSynchronize":
                self._stream.wait()
                self._is_held = False
            return 0

        return call


@contextlib.contextmanager
def sealing_on_the_host() -> Iterator[tuple[CudaSealing, Stream]]:
    """What seals, and the stream that a submission's work is given to as well."""
    launchers = []
    for name, declared in _DECLARED.items():
        names = ", ".join(one.split()[-1].lstrip("*") for one in declared.split(", "))
        launchers.append(
            f'extern "C" void run_{name}(int blocks, int threads, {declared}) '
            f"{{ {name}<<<blocks, threads>>>({names}); }}\n"
        )
    files = {"kernels/sealing.cu": _SOURCE + "".join(launchers), "model_new.py": ""}
    runtime = Runtime(CpuToolchain().build(Submission.of(files)).library)
    stream = Stream()

    def kernels(_cubin: Path, _device: torch.device, arguments: dict[str, Any]) -> _Kernels:
        return _Kernels(runtime, stream, arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_sealing, "CudaKernels", kernels)
        sealing = CudaSealing(Path(), torch.device("cpu"))
    try:
        yield sealing, stream
    finally:
        stream.end()
