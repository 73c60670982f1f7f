"""How fast the `cpu` device builds and runs: `python benchmarks/cpu_device.py`.

Writes `benchmarks/results/cpu_device.md`. Kernels and torch.compile run in separate processes, in
turns, because the idle threads of one would take time from the other; the machine should be quiet.
"""

from __future__ import annotations

import ctypes
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import find_compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.native_build import build_library
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import RUNTIME_NAME, Runtime
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime_build import runtime_library

NUM_FLOATS = 1 << 22
THREADS = 2
ROUNDS = 5
KERNELS = Path(__file__).with_suffix(".cu").read_text()
RESULTS = Path(__file__).parent / "results" / "cpu_device.md"

COMPARED = {
    "add": ("vector add", "a + b", ">= 0.95"),
    "bias_gelu": ("bias + GELU(tanh)", "gelu(a.view(-1, 1024) + b[:1024])", ">= 1.5"),
}
"""Launchers, with what torch.compile does instead and how many times as fast is wanted."""
ALONE = {
    "add_by_grid": ("vector add, grid-stride loop", ""),
    "gelu_half": ("GELU(tanh) of half", ""),
    "gelu_bfloat16": ("GELU(tanh) of bfloat16", ""),
    "sine": ("sinf", ""),
    "softmax_by_tree": ("softmax 4096 x 1024, tree in shared memory", "<= 60 ms"),
    "softmax_by_shuffles": ("softmax 4096 x 1024, shuffles", "<= 210 ms"),
    "matmul_by_tiles": ("matmul 1024^3, tiles of 16 x 16", ""),
    "matmul_by_registers": ("matmul 1024^3, 4 x 4 a thread", ""),
}
"""Launchers that are run on one thread, cut into phases and as they are."""

TORCH = f"""
import sys, time, torch
torch.set_num_threads({THREADS})
torch.manual_seed(0)
a, b = torch.randn({NUM_FLOATS}), torch.randn({NUM_FLOATS})
gelu = lambda x: torch.nn.functional.gelu(x, approximate="tanh")
f = torch.compile(eval("lambda a, b: " + sys.argv[1]))
def call():
    f(a, b)
"""
OURS = f"""
import ctypes, sys, time
import numpy as np
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
runtime = Runtime(sys.argv[1])
runtime.set_num_threads({THREADS})
launch = getattr(runtime.library, sys.argv[2])
a, b, c = np.random.default_rng(0).standard_normal((3, {NUM_FLOATS})).astype(np.float32)
pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)]
def call():
    launch(*pointers, {NUM_FLOATS})
"""
# Answers each line on its input with the median time of 40 calls, in milliseconds.
SERVE = """
for _ in range(5):
    call()
print("ready", flush=True)
for _ in sys.stdin:
    times = []
    for _ in range(40):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    print(sorted(times)[20] * 1e3, flush=True)
"""


def main() -> None:
    """Measure, print and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        cache = BuildCache(Path(folder) / "cache")
        toolchain = CpuToolchain(cache)
        started = time.perf_counter()
        toolchain.warm()
        warm_s = time.perf_counter() - started
        cold, cached = build_times(toolchain)
        cut, uncut = (build(cache, Path(folder), cuts=cuts) for cuts in (True, False))
        rows = [
            f"| runtime library, once a machine | {warm_s:.2f} s | |",
            f"| build of one file, median of 5 | {statistics.median(cold):.2f} s | <= 0.6 s |",
            f"| the same from the cache, median of 5 | {statistics.median(cached) * 1e3:.1f} ms | <= 20 ms |",
            *compared_rows(cut),
            *alone_rows(cut, uncut),
            *barrier_rows(uncut),
        ]
    lines = [
        "# The cpu device: measured",
        "",
        f"{datetime.date.today()}, {cpu_name()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
        f"{toolchain.name}, torch {version('torch')}, Python {platform.python_version()}. "
        "`python benchmarks/cpu_device.py` writes this file; arrays have "
        f"{NUM_FLOATS:,} numbers where nothing else is said.",
        "",
        "| what | measured | wanted |",
        "|---|---|---|",
        *rows,
        "",
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines))
    print("\n".join(lines))


def build_times(toolchain: CpuToolchain) -> tuple[list[float], list[float]]:
    """Seconds of five cold and five cached builds of one kernel."""
    source = KERNELS[KERNELS.index("// Softmax of rows") : KERNELS.index("// The same by shuffles")]
    text = f"#define LAUNCHER{KERNELS.partition('#define LAUNCHER')[2].partition(chr(10))[0]}\n{source}"
    cold, cached = [], []
    for number in range(5):
        submission = Submission.of({"kernels/softmax.cu": f"{text}// {number}\n"})
        cold.append(toolchain.build(submission).build_s)
        cached.append(toolchain.build(submission).build_s)
    return cold, cached


def build(cache: BuildCache, folder: Path, *, cuts: bool) -> str:
    """The library with all kernels, cut into phases or as they are."""
    place = folder / ("cut" if cuts else "uncut")
    place.mkdir()
    compiler = find_compiler()
    shutil.copy(runtime_library(cache, compiler), place / RUNTIME_NAME)
    program = rewrite({"kernels/all.cu": KERNELS}, cuts=cuts)
    library = place / "kernels.so"
    build_library(compiler, program, library, place / RUNTIME_NAME, time.monotonic() + 60)
    return str(library)


def compared_rows(library: str) -> Iterator[str]:
    """Our kernels and torch.compile, in turns."""
    for name, (what, expression, wanted) in COMPARED.items():
        ours, torch_ms = times_in_turns(library, name, expression)
        yield f"| {what}, {THREADS} threads | {ours:.2f} ms | |"
        yield f"| torch.compile, the same | {torch_ms:.2f} ms | |"
        yield f"| times as fast as torch.compile | {torch_ms / ours:.2f} | {wanted} |"


def alone_rows(cut: str, uncut: str) -> Iterator[str]:
    """Kernels on one thread, cut into phases and as loops or fibers."""
    runtimes = [Runtime(path) for path in (cut, uncut)]
    a, b, c = np.random.default_rng(0).standard_normal((3, NUM_FLOATS)).astype(np.float32)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)]
    for name, (what, wanted) in ALONE.items():
        best = []
        for runtime in runtimes:
            runtime.set_num_threads(1)
            launch = getattr(runtime.library, name)
            best.append(min(seconds(partial(launch, *pointers, NUM_FLOATS)) for _ in range(7)))
        text = " / ".join(f"{value * 1e3:.1f}" for value in best)
        yield f"| {what}, 1 thread: as is / not cut into phases | {text} ms | {wanted} |"


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def times_in_turns(library: str, name: str, expression: str) -> tuple[float, float]:
    """Milliseconds of our kernel and of torch.compile, in turns, the median of all rounds."""
    servers = [
        subprocess.Popen(
            [sys.executable, "-c", script + SERVE, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for script, *arguments in ([OURS, library, name], [TORCH, expression])
    ]
    for server in servers:
        ask(server, None)
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for server, found in zip(servers, times, strict=True):
            found.append(float(ask(server, "go")))
    for server in servers:
        server.communicate("")
    return statistics.median(times[0]), statistics.median(times[1])


def ask(server: subprocess.Popen[str], question: str | None) -> str:
    """One line to a server and its answer."""
    assert server.stdin is not None
    assert server.stdout is not None
    if question is not None:
        server.stdin.write(f"{question}\n")
        server.stdin.flush()
    return server.stdout.readline()


def barrier_rows(library: str) -> Iterator[str]:
    """Nanoseconds that one thread pays for waiting once, as a fiber."""
    runtime = Runtime(library)
    runtime.set_num_threads(1)
    x = np.zeros(1024, np.float32)
    for name, call, wanted in (
        ("__syncthreads", "barriers", "<= 8 ns"),
        ("__shfl_xor_sync", "shuffles", ""),
    ):
        for threads in (32, 256, 1024):
            ns = cost(getattr(runtime.library, call), x, threads)
            yield f"| {name} of fibers, {threads} threads | {ns:.1f} ns a thread | {wanted} |"


def cost(function: Callable[..., object], x: np.ndarray, threads: int) -> float:
    """The best of five runs with 2 million waits."""
    num_waits = 2_000_000 // threads
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        function(ctypes.c_void_p(x.ctypes.data), threads, num_waits)
        best = min(best, time.perf_counter() - started)
    return best / (num_waits * threads) * 1e9


def cpu_name() -> str:
    """The processor's model."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


if __name__ == "__main__":
    main()
