"""A timed judgement, and the conditions under which it holds. Only a Verdict pays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from cuda_gym.core.findings import Findings, Outcome
from cuda_gym.core.kernel_counters import KernelCounters

__all__ = [
    "JUDGE_VERSION",
    "DeviceRates",
    "Fingerprint",
    "KernelTime",
    "Profile",
    "Telemetry",
    "Timing",
    "Verdict",
    "Work",
]


JUDGE_VERSION = "6"
"""Raised whenever an equal submission could get another Verdict; leaderboards rank one version."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How long a submission and its baselines took on one device, in one comparison."""

    time_us: float
    """Time of the submission: the fastest tenth of a block, the median over interleaved blocks."""
    compile_us: float
    """Time of the reference under torch.compile, interleaved with the submission."""
    speedup: float
    """compile_us over time_us, the median over pairs of blocks: not the ratio of the two above."""
    speedup_low: float
    """Lower end of the 95 % bootstrap interval."""
    speedup_high: float
    """Upper end of the 95 % bootstrap interval."""
    num_blocks: int
    """Blocks of each side."""
    num_calls: int
    """Timed calls of the submission, each with new content."""
    timer: str
    """Which clock: `wall` on cpu, with what the machine does not count; `events behind a gate` on a GPU,
    ungated where a submission waits."""
    host_us: float | None = None
    """How long a call of the submission keeps the host; None where that is its time."""
    num_disturbed: int = 0
    """Pairs of blocks during which other processes took the cores."""
    steady: bool = True
    """Whether enough pairs were undisturbed, and only these count. Where not, compile_us is at most
    the best ever seen: a busy machine slows torch.compile more than others, and nobody earns that."""
    eager_us: float | None = None
    """Time of the eager reference: its cached ratio to torch.compile, anchored at compile_us."""
    first_call_us: float | None = None
    """Time of the very first call."""
    clock_ratio: float | None = None
    """The judge's own clock, a call, over the candidate's; above 1.3 (on a GPU 1.1) times are scaled up."""
    prepare_us: float | None = None
    """Time of `prepare()`; None where there is none."""
    num_left_out: int = 0
    """Hidden draws among the timed calls that memory did not bear."""

    def __post_init__(self) -> None:
        times = (self.time_us, self.compile_us, self.speedup)
        if not all(math.isfinite(value) and value > 0 for value in times):
            raise ValueError(
                f"times and speed-ups are positive; got time_us={self.time_us}, "
                f"compile_us={self.compile_us}, speedup={self.speedup}"
            )

    @property
    def is_launch_bound(self) -> bool:
        """Whether a user waits for the host: its time is more than half as long again as the device's."""
        return self.host_us is not None and self.host_us > 1.5 * self.time_us

    @property
    def eager_speedup(self) -> float | None:
        """eager_us over time_us."""
        return None if self.eager_us is None else self.eager_us / self.time_us


@dataclass(frozen=True, kw_only=True)
class KernelTime:
    """What one kernel took in one call, as the submission's process reports it: told, never paid."""

    name: str
    """`library.gemm` and its like where the call was one of `cuda_extension.library`."""
    launches: int
    total_us: float
    """Of all its launches."""
    grid: tuple[int, ...] = ()
    """Blocks of its longest launch; empty for a library call."""
    block: tuple[int, ...] = ()
    """Threads of a block, likewise."""
    mode: str | None = None
    """How the `cpu` device runs it, as in `KernelResources`."""

    @property
    def launch_us(self) -> float:
        """A launch, on average."""
        return self.total_us / self.launches


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a task asks of any submission in one call."""

    read_bytes: int
    """Inputs and parameters, each byte once; what no output depends on is left out."""
    written_bytes: int
    """Outputs."""
    flops: float | None
    """Exact for products, convolutions and attention, one an element for each other operator of the
    reference; None where it has an operator that nobody counts."""
    number_format: str = "float32"
    """Of its products, as in `DeviceRates.gflop_per_s_in`."""


@dataclass(frozen=True, kw_only=True)
class DeviceRates:
    """The most that a device was seen to do, with the threads of a race."""

    copy_gb_per_s: float
    """Bytes read and bytes written, of copies larger than every cache."""
    gflop_per_s: float
    """In a product of float32 matrices, without TF32."""
    cache_bytes: int
    """Of the last level; 0 where it is unknown."""
    num_cores: int
    """Threads of a race, or multiprocessors: each runs at least one block at a time."""
    cached_gb_per_s: float | None = None
    """As the first, of copies that fit the cache; None where nobody measured."""
    peak_gb_per_s: float | None = None
    """What the memory could do by its clock and width; None where nobody says."""
    gflop_per_s_in: Mapping[str, float] = field(default_factory=dict)
    """As the second, in products of other number formats: `tf32`, `half` (float16 and bfloat16),
    `float64`, `int8`."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Where the time of a call goes, and what it would have to be: told, never paid."""

    call_us: float | None = None
    """The call in which the kernels were timed, after the race; None where that failed."""
    kernels: tuple[KernelTime, ...] = ()
    """In the order of their first launches."""
    work: Work | None = None
    rates: DeviceRates | None = None
    counters: tuple[KernelCounters, ...] = ()
    """What the hardware counted, where it was asked; the kernel that took most first."""
    no_counters: str = ""
    """Why there are none, where they were asked for."""

    @property
    def kernel_share(self) -> float | None:
        """The part of a call that is spent in kernels and library calls; None where that is not known.

        A small one may be honest: where little is to be done, or memory is set to zero.

        >>> kernel = KernelTime(name="scale", launches=1, total_us=2.0)
        >>> Profile(call_us=8.0, kernels=(kernel,)).kernel_share
        0.25
        """
        if not self.call_us:
            return None
        return min(1.0, sum(kernel.total_us for kernel in self.kernels) / self.call_us)


@dataclass(frozen=True, kw_only=True)
class Telemetry:
    """The state of the device around the timed calls; None where it does not say."""

    clock_mhz: float | None = None
    """Of the processor's cores, on average, or of a GPU's multiprocessors."""
    temperature_c: float | None = None
    power_w: float | None = None
    throttled: str | None = None
    """The reason, where there was one."""
    load: float | None = None
    """Runnable processes over cores (`cpu`), or the share of the last sampling period, some tenths of
    a second, in which any kernel ran (`cuda`)."""
    max_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    max_memory_clock_mhz: float | None = None
    power_limit_w: float | None = None
    energy_mj: int | None = None
    """In a Verdict what the timed calls took; in a reading what was taken since the driver was loaded."""
    memory_used_bytes: int | None = None
    """By all processes."""
    memory_total_bytes: int | None = None
    num_other_processes: int | None = None
    """Processes of others that have a context on the GPU; at least so many, in a container."""
    other_memory_bytes: int | None = None
    """What these hold."""


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """The conditions under which a Verdict holds. Only equal fingerprints are ranked together."""

    judge: str
    task: str
    """Hash of the task."""
    device: str
    """Name of the hardware and its number of threads."""
    toolchain: str
    torch: str
    compile_mode: str
    timer: str
    transport: str
    isolation: str
    """What stood between the submission and the machine."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A timed judgement of one submission on one task."""

    outcome: Outcome
    task_id: str
    submission: str
    """Hash of the submission."""
    device: str
    findings: Findings
    """What was compiled and verified on the way."""
    fingerprint: Fingerprint | None
    """None only where the judgement ended before the device was known."""
    timing: Timing | None = None
    """There exactly where the outcome is correct."""
    profile: Profile | None = None
    """None where there is no timing."""
    telemetry: Telemetry | None = None
    unranked: str | None = None
    """Why a leaderboard may not rank it; None where it may."""
    seed: int | None = None
    """The secret seed of the draws, told afterwards so that the Verdict can be replayed."""
    judge_s: float = 0.0
    """Wall time of the whole judgement."""

    def __post_init__(self) -> None:
        if (self.outcome is Outcome.CORRECT) != (self.timing is not None):
            raise ValueError(
                f"a Verdict has a Timing exactly where it is correct; got {self.outcome.value} "
                f"with timing={self.timing}"
            )

    @property
    def summary(self) -> str:
        """One sentence: fact, value, remedy."""
        return self.findings.summary

    @property
    def speedup(self) -> float | None:
        """Verified speed-up over torch.compile; None where the submission is not correct."""
        return None if self.timing is None else self.timing.speedup
