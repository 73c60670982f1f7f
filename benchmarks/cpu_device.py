"""How fast the `cpu` device builds and runs: `python benchmarks/cpu_device.py`.

Writes `benchmarks/results/cpu_device.md`. Kernels and torch.compile run in separate processes, in
turns, because the idle threads of one would take time from the other; the machine should be quiet.
"""

from __future__ import annotations

import ctypes
import datetime
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np

from cuda_gym.core import Submission
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime

ROWS, COLUMNS = 4096, 1024
THREADS = 2
ROUNDS = 5
RESULTS = Path(__file__).parent / "results" / "cpu_device.md"

BIAS_GELU = """
__device__ __forceinline__ float gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}
__global__ void bias_gelu_kernel(const float* x, const float* bias, float* y, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  size_t i = (size_t)blockIdx.y * columns + column;
  if (column < columns) y[i] = gelu(x[i] + bias[column]);
}
extern "C" void bias_gelu(const float* x, const float* bias, float* y, int rows, int columns) {
  bias_gelu_kernel<<<dim3((columns + 255) / 256, rows), 256>>>(x, bias, y, rows, columns);
}
"""
BARRIERS = """
__global__ void barriers_kernel(float* x, int n) {
  for (int i = 0; i < n; ++i) __syncthreads();
  x[threadIdx.x] = n;
}
__global__ void shuffles_kernel(float* x, int n) {
  float v = threadIdx.x;
  for (int i = 0; i < n; ++i) v += __shfl_xor_sync(0xffffffffu, v, 1);
  x[threadIdx.x] = v;
}
extern "C" void barriers(float* x, int threads, int n) { barriers_kernel<<<1, threads>>>(x, n); }
extern "C" void shuffles(float* x, int threads, int n) { shuffles_kernel<<<1, threads>>>(x, n); }
"""
TORCH = f"""
import time, torch
torch.set_num_threads({THREADS})
torch.manual_seed(0)
x, bias = torch.randn({ROWS}, {COLUMNS}), torch.randn({COLUMNS})
f = torch.compile(lambda x, b: torch.nn.functional.gelu(x + b, approximate="tanh"))
def call():
    f(x, bias)
"""
OURS = f"""
import ctypes, sys, time
import numpy as np
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
runtime = Runtime(sys.argv[1])
runtime.set_num_threads({THREADS})
x = np.random.default_rng(0).standard_normal(({ROWS}, {COLUMNS})).astype(np.float32)
bias, y = x[0].copy(), np.empty_like(x)
x_, bias_, y_ = (ctypes.c_void_p(a.ctypes.data) for a in (x, bias, y))
def call():
    runtime.library.bias_gelu(x_, bias_, y_, {ROWS}, {COLUMNS})
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
        toolchain = CpuToolchain(BuildCache(Path(folder)))
        started = time.perf_counter()
        toolchain.warm()
        warm_s = time.perf_counter() - started
        cold, cached, library = build_times(toolchain)
        ours, torch_ms = bias_gelu_times(library)
        barriers = barrier_costs(toolchain)
    lines = [
        "# The cpu device: measured",
        "",
        f"{datetime.date.today()}, {cpu_name()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
        f"{toolchain.name}, torch {version('torch')}, Python {platform.python_version()}. "
        "`python benchmarks/cpu_device.py` writes this file.",
        "",
        "| what | measured | wanted |",
        "|---|---|---|",
        f"| runtime library, once a machine | {warm_s:.2f} s | |",
        f"| build of one file, median of 5 | {statistics.median(cold):.2f} s | <= 0.6 s |",
        f"| the same from the cache, median of 5 | {statistics.median(cached) * 1e3:.1f} ms | <= 20 ms |",
        f"| bias+GELU(tanh), {ROWS * COLUMNS:,} floats, {THREADS} threads | {ours:.2f} ms | |",
        f"| torch.compile, the same, {THREADS} threads | {torch_ms:.2f} ms | |",
        f"| speed-up | {torch_ms / ours:.2f} | >= 1.5 |",
        *(f"| {what} | {ns:.1f} ns a thread | |" for what, ns in barriers.items()),
        "",
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines))
    print("\n".join(lines))


def build_times(toolchain: CpuToolchain) -> tuple[list[float], list[float], str]:
    """Seconds of five cold and five cached builds, and the library."""
    cold, cached = [], []
    for number in range(5):
        submission = Submission.of({"kernels/bias_gelu.cu": f"{BIAS_GELU}// {number}\n"})
        cold.append(toolchain.build(submission).build_s)
        build = toolchain.build(submission)
        cached.append(build.build_s)
    return cold, cached, build.library


def bias_gelu_times(library: str) -> tuple[float, float]:
    """Milliseconds of our kernel and of torch.compile, in turns, the median of all rounds."""
    commands = ([OURS, library], [f"import sys\n{TORCH}"])
    servers = [
        subprocess.Popen(
            [sys.executable, "-c", script + SERVE, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for script, *arguments in commands
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


def barrier_costs(toolchain: CpuToolchain) -> dict[str, float]:
    """Nanoseconds that one thread pays for waiting once."""
    runtime = Runtime(toolchain.build(Submission.of({"kernels/barriers.cu": BARRIERS})).library)
    runtime.set_num_threads(1)
    x = np.zeros(1024, np.float32)
    costs = {}
    for name, call in (("__syncthreads", "barriers"), ("__shfl_xor_sync", "shuffles")):
        for threads in (32, 256, 1024):
            function = getattr(runtime.library, call)
            costs[f"{name}, {threads} threads"] = cost(function, x, threads)
    return costs


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
