"""The one thing that limits a right submission next, in a sentence with numbers. Pure.

The first of these that holds is told:

    host         the kernels take less than two thirds of a call, or it consists of many tiny launches
    fibers       the kernel that takes most runs as fibers, which only `cpu` knows
    roof         the time is near what the task's bytes, or its arithmetic, take at best
    library      a call of cuda_extension.library takes most
    parallelism  the kernel that takes most has fewer blocks than the device has cores
    passes       several kernels share the time of a task that could be done in one pass over memory
    arithmetic   the task computes for longer than it moves bytes, and the time is far from that
    access       it is the other way round, and the time is far from that
    noise        nothing of that is known, and the interval holds 1.0
    unknown      nothing of that is known

Not covered: whether what the submission's process says of its kernels is true. It is the agent's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, unique

from cuda_gym.core.verdict import DeviceRates, KernelTime, Profile, Timing, Work
from cuda_gym.envs.feedback.words import describe_bytes, describe_rate, describe_time
from cuda_gym.judge.profiling.roofline import Floor, floor_of, gflop_per_s

__all__ = ["Limit", "NextLimit", "next_limit"]

LAUNCH_BOUND = 1.5
"""A call that takes so many times what its kernels take waits for the host."""
NEAR = 0.8
"""From this part of the roofline on, nothing but less work helps."""
_MANY_LAUNCHES = 10
_TINY_US = 10.0
_DOMINANT = 0.5
_SHARE_OF_A_PASS = 0.1
"""A kernel with less of the time than that is no pass worth fusing."""


@unique
class Limit(Enum):
    """Kinds of limits, in the order in which they are looked for."""

    HOST = "host"
    FIBERS = "fibers"
    ROOF = "roof"
    LIBRARY = "library"
    PARALLELISM = "parallelism"
    PASSES = "passes"
    ARITHMETIC = "arithmetic"
    ACCESS = "access"
    NOISE = "noise"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class NextLimit:
    """What to work on, and why."""

    limit: Limit
    text: str
    """Fact with numbers, then the remedy."""


@dataclass(frozen=True, kw_only=True)
class _Facts:
    """What the tests look at."""

    timing: Timing
    call_us: float | None
    kernels: tuple[KernelTime, ...]
    """The longest first."""
    work: Work | None
    rates: DeviceRates | None
    floor: Floor | None

    @property
    def kernels_us(self) -> float:
        return math.fsum(kernel.total_us for kernel in self.kernels)

    @property
    def longest(self) -> KernelTime | None:
        """The kernel that takes at least half of what all take."""
        longest = next(iter(self.kernels), None)
        is_dominant = longest is not None and longest.total_us >= _DOMINANT * self.kernels_us
        return longest if is_dominant else None

    @property
    def is_gpu(self) -> bool:
        """Whether kernels ran as they do on a GPU: only `cpu` has several ways to run one."""
        launched = [kernel for kernel in self.kernels if kernel.grid]
        return bool(launched) and all(kernel.mode is None for kernel in launched)


def next_limit(timing: Timing, profile: Profile | None) -> NextLimit:
    """What limits it next."""
    profile = profile or Profile()
    facts = _Facts(
        timing=timing,
        call_us=profile.call_us,
        kernels=tuple(sorted(profile.kernels, key=lambda k: -k.total_us)),
        work=profile.work,
        rates=profile.rates,
        floor=floor_of(profile),
    )
    for limit, test in _TESTS:
        if text := test(facts):
            return NextLimit(limit=limit, text=text)
    return NextLimit(limit=Limit.UNKNOWN, text="Nothing that was measured says what limits it.")


def _host(facts: _Facts) -> str | None:
    call_us, kernels_us = facts.call_us, facts.kernels_us
    if call_us is None or not facts.kernels:
        return None
    launches = sum(kernel.launches for kernel in facts.kernels)
    if call_us > LAUNCH_BOUND * kernels_us:
        remedy = "Allocate less and do less in forward()"
        if launches >= _MANY_LAUNCHES:
            remedy = "Do in one launch what they do"
        return (
            f"the host: of {describe_time(call_us)} a call the kernels take "
            f"{describe_time(kernels_us)} ({_times(launches, 'launch', 'launches')}). {remedy}; "
            "faster kernels change little."
        )
    if launches >= _MANY_LAUNCHES and kernels_us / launches < _TINY_US:
        return (
            f"the launches: {launches} in a call, {describe_time(kernels_us / launches)} each. "
            "A launch costs that much whatever it does: do more in each, or all in one."
        )
    return None


def _fibers(facts: _Facts) -> str | None:
    longest = facts.longest
    if longest is None or longest.mode != "fibers":
        return None
    return (
        f"fibers: {longest.name} takes {longest.total_us / facts.kernels_us:.0%} of the kernels' time, "
        "and each of its threads waits on a stack of its own, several times slower than phases. "
        "Put __syncthreads() and full-mask shuffles where all threads pass together, with plainly "
        "typed variables, or let one thread do a row: read_skill cpu_device."
    )


def _roof(facts: _Facts) -> str | None:
    floor, time_us = facts.floor, facts.timing.time_us
    if floor is None or floor.time_us < NEAR * time_us:
        return None
    part = floor.time_us / time_us
    if floor.is_arithmetic:
        return f"arithmetic, at {part:.0%} of the roofline: only computing less helps, or nothing."
    if part > 1.0:
        where = "its outputs stay in the cache" if floor.fits_cache else "copies were slower then"
        return (
            f"memory, beyond the roofline ({part:.0%} of it: {where}). Little is left to gain: only "
            "fewer bytes would help."
        )
    return f"memory, at {part:.0%} of the roofline: only fewer bytes help, or nothing."


def _library(facts: _Facts) -> str | None:
    longest = facts.longest
    if longest is None or longest.grid:
        return None
    return (
        f"{longest.name}, which takes {longest.total_us / facts.kernels_us:.0%} of the kernels' time and "
        "is what it is. Give it less to do, fuse what stands around it, or write a kernel that does "
        "both."
    )


def _parallelism(facts: _Facts) -> str | None:
    longest, rates = facts.longest, facts.rates
    if longest is None or rates is None:
        return None
    blocks = math.prod(longest.grid)
    if blocks >= rates.num_cores:
        return None
    cores = "multiprocessors" if facts.is_gpu else "cores"
    return (
        f"parallelism: {longest.name} has {_times(blocks, 'block', 'blocks')} for {rates.num_cores} "
        f"{cores}, and a block runs on one. Split its work over more blocks."
    )


def _passes(facts: _Facts) -> str | None:
    floor, work = facts.floor, facts.work
    if floor is None or work is None or floor.is_arithmetic:
        return None
    least = _SHARE_OF_A_PASS * facts.kernels_us
    passes = [kernel for kernel in facts.kernels if kernel.total_us >= least]
    launches = sum(kernel.launches for kernel in passes)
    if len(passes) < 2:  # the launches of one kernel may well share the work
        return None
    return (
        f"passes over memory: {_times(launches, 'launch', 'launches')} ({_names(passes)}) share the "
        f"time, {facts.timing.time_us / floor.memory_us:.1f} times what moving "
        f"{describe_bytes(work.read_bytes + work.written_bytes)} once takes. What one writes the next "
        "reads again: fuse them, and keep what lies between in registers or shared memory."
    )


def _arithmetic(facts: _Facts) -> str | None:
    floor, rates, work = facts.floor, facts.rates, facts.work
    if floor is None or rates is None or work is None or not floor.is_arithmetic:
        return None
    inner = "tensor cores in the task's format" if facts.is_gpu else "inner loops that vectorise"
    return (
        f"arithmetic, at {floor.time_us / facts.timing.time_us:.0%} of the "
        f"{describe_rate(gflop_per_s(rates, work.number_format))} of this device's matrix products. "
        "Use each loaded value more often: tiles in shared memory, several results a thread in "
        f"registers, {inner}."
    )


def _access(facts: _Facts) -> str | None:
    floor, rates = facts.floor, facts.rates
    if floor is None or rates is None:
        return None
    part = floor.time_us / facts.timing.time_us
    return (
        f"the way it goes through memory, or what it computes on the way: {part:.0%} of the roofline. "
        "Let neighbouring threads touch neighbouring addresses, read each byte once, and look for "
        "costly steps an element (exp, division, branches, waiting)."
    )


def _noise(facts: _Facts) -> str | None:
    timing = facts.timing
    if not timing.speedup_low <= 1.0 <= timing.speedup_high:
        return None
    return (
        "noise: the interval holds 1.0, and measuring again will not change that. "
        "Only a larger change would show."
    )


_TESTS: tuple[tuple[Limit, Callable[[_Facts], str | None]], ...] = (
    (Limit.HOST, _host),
    (Limit.FIBERS, _fibers),
    (Limit.ROOF, _roof),
    (Limit.LIBRARY, _library),
    (Limit.PARALLELISM, _parallelism),
    (Limit.PASSES, _passes),
    (Limit.ARITHMETIC, _arithmetic),
    (Limit.ACCESS, _access),
    (Limit.NOISE, _noise),
)


def _times(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _names(kernels: list[KernelTime]) -> str:
    shown = ", ".join(kernel.name for kernel in kernels[:4])
    return f"{shown}, ..." if len(kernels) > 4 else shown
