"""The `core` suite on a GPU: is each task the right size there, and is each solution right there?

    python benchmarks/core_on_gpu.py [--write] [--only NAME ...]

Each task has the sizes that it names for `cuda`. Its solution is compiled by nvcc and called through
the same checked launchers as on `cpu`, and its outputs are compared with eager's. There is no sandbox and no
hidden draw here: this says that tasks and solutions fit a GPU, it gives no Verdicts.

Times are device times: the median of 30 calls between events, each behind a wait that outlasts the
host's work for the call, and after the L2 cache was filled with something else.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from cuda_gym.agents.scripted import load_solution, solved_tasks
from cuda_gym.core.device import Device
from cuda_gym.core.task import Submission, Task
from cuda_gym.errors import CudaGymError
from cuda_gym.judge.toolchains.cuda_extension import make_extension
from cuda_gym.judge.toolchains.launchers import parse_launchers
from cuda_gym.judge.toolchains.nvcc import NvccToolchain
from cuda_gym.tasks.registry import list_tasks
from cuda_gym.tasks.sizes import sized_for

RESULTS = Path(__file__).parent / "results" / "core_on_gpu.md"
NUM_CALLS = 30
WAIT_CYCLES = 1_000_000
"""Half a millisecond on an H200: longer than the guards of torch.compile take on the host."""
SHARE = 1e-3
"""An output is right where it is off by at most this share of itself and of the largest output."""


def new_model(task: Task) -> Callable[..., torch.nn.Module]:
    """The class ModelNew of the task's solution."""
    files = load_solution(task.id)
    major, minor = torch.cuda.get_device_capability()
    build = NvccToolchain(f"sm_{major}{minor}").build(Submission.of(files))
    library = ctypes.CDLL(build.library)
    sys.modules["cuda_extension"] = make_extension(
        parse_launchers(files),
        library,
        device=torch.device("cuda", 0),
        stream=lambda: torch.cuda.current_stream().cuda_stream,
        take_error=lambda: None,
        allowed_library=task.library,
        on_library_call=lambda _: None,
    )
    namespace: dict[str, Any] = {"__name__": "model_new"}
    exec(compile(files["model_new.py"], "model_new.py", "exec"), namespace)
    made: Callable[..., torch.nn.Module] = namespace["ModelNew"]
    return made


def tensors(value: Any) -> list[torch.Tensor]:
    """The tensors of an input or output."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for item in value for tensor in tensors(item)] if value is not None else []


def is_close(ours: Any, theirs: Any) -> bool:
    """Whether two outputs agree."""
    pairs = zip(tensors(ours), tensors(theirs), strict=True)
    for got, want in pairs:
        if got.dtype != want.dtype or got.shape != want.shape:
            return False
        if not want.is_floating_point():
            if not torch.equal(got, want):
                return False
            continue
        share = SHARE if want.dtype == torch.float32 else 2e-2
        allowed = share * want.float().abs() + share * want.float().abs().max()
        if not bool(((got.float() - want.float()).abs() <= allowed).all()):
            return False
    return True


def device_us(call: Callable[[], Any]) -> float:
    """Median device time of a call."""
    flushed = torch.empty(128 << 20, dtype=torch.int32, device="cuda")
    for _ in range(5):
        call()
    cuda: Any = torch.cuda
    times = []
    for _ in range(NUM_CALLS):
        flushed.zero_()
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        cuda._sleep(WAIT_CYCLES)
        start.record()
        call()
        end.record()
        cuda.synchronize()
        times.append(start.elapsed_time(end) * 1000.0)
    return float(statistics.median(times))


def row(task: Task) -> str:
    """One line of the table."""
    namespace: dict[str, Any] = {"__name__": "model"}
    exec(compile(task.source, f"{task.id}.py", "exec"), namespace)
    with torch.device("cuda"):
        torch.manual_seed(1)
        init, inputs = namespace["get_init_inputs"](), namespace["get_inputs"]()
        model = namespace["Model"](*init).eval()
    expected = model(*inputs)
    moved = sum(t.numel() * t.element_size() for t in tensors([*inputs, expected]))
    eager = device_us(lambda: model(*inputs))
    compiled: Any = torch.compile(model)
    compile_us = device_us(lambda: compiled(*inputs))
    told, ours = "no solution", ""
    if task.id in solved_tasks():
        made = new_model(task)
        with torch.device("cuda"):
            new = made(*init).eval()
        new.load_state_dict(model.state_dict())
        right = is_close(new(*inputs), expected)
        told = "right" if right else "WRONG"
        ours = f"{device_us(lambda: new(*inputs)):,.0f}" if right else ""
    return (
        f"| {task.id} | {moved / 1e6:,.0f} | {eager:,.0f} | {compile_us:,.0f} | {ours} | {told} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--to", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("There is no NVIDIA GPU here, so there is nothing to measure.")
        return
    rows = []
    for task in list_tasks("core"):
        if arguments.only and task.id.removeprefix("core/") not in arguments.only:
            continue
        with torch.no_grad():
            try:
                rows.append(row(sized_for(task, Device("cuda"))))
            except (RuntimeError, TypeError, ValueError, CudaGymError) as error:
                rows.append(f"| {task.id} | | | | | failed: {str(error).splitlines()[0]} |")
        print(rows[-1], flush=True)
        torch.compiler.reset()
        torch.cuda.empty_cache()
    machine = f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {datetime.date.today()}"
    text = "\n".join(
        [
            "# The `core` suite on a GPU",
            "",
            f"{machine}. By `benchmarks/core_on_gpu.py`; microseconds of the device a call, and "
            "megabytes of inputs and outputs.",
            "",
            "| task | MB | eager | torch.compile | solution | its outputs |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )
    if arguments.write:
        arguments.to.write_text(text)


if __name__ == "__main__":
    main()
