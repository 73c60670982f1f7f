"""What clocks say of kernels of 5 us to 5 ms on a GPU, and how steady they are.

    python benchmarks/gpu_timers.py [--write] [--drift-s 180]

The kernel copies floats, so that its length is a matter of bytes. Two copies of it play reference and
submission: the true ratio is 1. Compared are

    events          two events around a call, nothing else
    gated           the same behind a wait that outlasts the host's work for the call
    wall            calls back to back, one synchronisation, the host's clock
    CUPTI           the kernel's own time in the profiler's record
    gated, flushed  as gated, after the L2 cache was filled with something else
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

RESULTS = Path(__file__).parent / "results" / "gpu_timers.md"
LENGTHS_US = (5, 50, 500, 5000)
NUM_CALLS = 50
BYTES_PER_US = 4.0e6
"""About what an H200 copies in a microsecond, both ways together."""
CYCLES_PER_US = 2000
cuda: Any = torch.cuda

Call = Callable[[], Any]


class Flush:
    """Fills the L2 cache with something else."""

    def __init__(self) -> None:
        size = 2 * cuda.get_device_properties(0).L2_cache_size
        self._memory = torch.empty(size, dtype=torch.uint8, device="cuda")

    def __call__(self) -> None:
        self._memory.zero_()


def make_copy(length_us: float) -> Call:
    """A call that copies for about as long."""
    count = max(1, int(length_us * BYTES_PER_US / 8))
    source = torch.randn(count, device="cuda")
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def by_events(
    call: Call, num_calls: int, *, wait_us: float = 0.0, flush: Call | None = None
) -> list[float]:
    """Microseconds between two events around each call."""
    pairs = []
    for _ in range(num_calls):
        if flush is not None:
            flush()
        if wait_us:
            cuda._sleep(int(wait_us * CYCLES_PER_US))
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        if wait_us:
            cuda.synchronize()
        pairs.append((start, end))
    cuda.synchronize()
    return [start.elapsed_time(end) * 1000.0 for start, end in pairs]


def by_wall(call: Call, num_calls: int) -> float:
    """Microseconds a call, back to back."""
    cuda.synchronize()
    start = time.perf_counter()
    for _ in range(num_calls):
        call()
    cuda.synchronize()
    return (time.perf_counter() - start) * 1e6 / num_calls


def by_profiler(call: Call, num_calls: int) -> float:
    """Median microseconds of the kernels themselves."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as record:
        for _ in range(num_calls):
            call()
        cuda.synchronize()
    events: Any = record.events()
    return float(statistics.median(e.device_time for e in events if e.device_time > 0))


def host_us(call: Call) -> float:
    """How long the host works for a call."""
    times = []
    for _ in range(20):
        cuda.synchronize()
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e6)
    cuda.synchronize()
    return statistics.median(times)


def clocks_row(length_us: float, flush: Flush) -> str:
    """One line of the first table."""
    call = make_copy(length_us)
    for _ in range(10):
        call()
    wait = max(50.0, 3.0 * host_us(call))
    plain = statistics.median(by_events(call, NUM_CALLS))
    gated = by_events(call, NUM_CALLS, wait_us=wait)[3:]
    empty = statistics.median(by_events(lambda: None, NUM_CALLS, wait_us=wait)[3:])
    flushed = statistics.median(by_events(call, NUM_CALLS, wait_us=wait, flush=flush)[3:])
    spread = statistics.stdev(gated) / statistics.fmean(gated)
    return (
        f"| {length_us:,} | {plain:.2f} | {statistics.median(gated):.2f} ({spread:.2%}) | {empty:.2f} "
        f"| {flushed:.2f} | {by_wall(call, NUM_CALLS):.2f} | {by_profiler(call, NUM_CALLS):.2f} |"
    )


def verdict_ratio(ours: Call, theirs: Call, flush: Flush, length_us: float) -> float:
    """The ratio of one Verdict: the median over pairs of interleaved blocks of at least 50 ms."""
    wait = 100.0
    per_block = max(5, min(50, int(50_000 / (length_us + wait + 60.0))))
    ratios = []
    for pair in range(8):
        order = (ours, theirs) if pair % 2 == 0 else (theirs, ours)
        times = {
            id(call): statistics.median(
                by_events(call, per_block + 3, wait_us=wait, flush=flush)[3:]
            )
            for call in order
        }
        ratios.append(times[id(theirs)] / times[id(ours)])
    return statistics.median(ratios)


def ratio_row(length_us: float, flush: Flush) -> str:
    """One line of the second table."""
    ours, theirs = make_copy(length_us), make_copy(length_us)
    ratios = [verdict_ratio(ours, theirs, flush, length_us) for _ in range(20)]
    return (
        f"| {length_us:,} | {statistics.fmean(ratios):.4f} | {statistics.stdev(ratios):.2%} "
        f"| {min(ratios):.4f} to {max(ratios):.4f} |"
    )


def drift(seconds: float, flush: Flush) -> str:
    """How a kernel of 500 us and the card change in some minutes of work."""
    call = make_copy(500)
    medians, start = [], time.monotonic()
    while time.monotonic() - start < seconds:
        medians.append(statistics.median(by_events(call, 200, wait_us=60.0, flush=flush)[3:]))
    first, last = statistics.fmean(medians[:10]), statistics.fmean(medians[-10:])
    return (
        f"{len(medians)} medians of 197 calls over {seconds:.0f} s: first ten {first:.2f} us, last ten "
        f"{last:.2f} us ({last / first - 1:+.2%}), least {min(medians):.2f}, most {max(medians):.2f}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--drift-s", type=float, default=180.0)
    parser.add_argument("--to", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("There is no NVIDIA GPU here, so there is nothing to measure.")
        return
    flush = Flush()
    clocks = [clocks_row(length, flush) for length in LENGTHS_US]
    ratios = [ratio_row(length, flush) for length in LENGTHS_US]
    machine = f"{cuda.get_device_name()}, torch {torch.__version__}, {datetime.date.today()}"
    text = "\n".join(
        [
            "# Clocks on a GPU",
            "",
            f"{machine}. By `benchmarks/gpu_timers.py`: a copy of the length that the first column "
            "names, in microseconds; medians of 47 to 50 calls.",
            "",
            "| length | events | gated (spread of calls) | gated, nothing called | gated, flushed | wall | CUPTI |",
            "|---|---|---|---|---|---|---|",
            *clocks,
            "",
            "## How far the ratio of a kernel to itself repeats",
            "",
            "Twenty Verdicts of eight pairs of interleaved blocks, gated and flushed; the truth is 1.",
            "",
            "| length | mean | standard deviation | least to most |",
            "|---|---|---|---|",
            *ratios,
            "",
            "## Drift",
            "",
            drift(arguments.drift_s, flush),
            "",
        ]
    )
    print(text)
    if arguments.write:
        arguments.to.write_text(text)


if __name__ == "__main__":
    main()
