"""Where the time of one call goes, and how that compares with what the device can do."""

from __future__ import annotations

import math

from cuda_gym.core.verdict import KernelTime, Profile, Timing
from cuda_gym.envs.feedback.next_limit import LAUNCH_BOUND
from cuda_gym.envs.feedback.words import describe_bytes, describe_rate, describe_time, joined
from cuda_gym.judge.profiling.roofline import floor_of, gflop_per_s

__all__ = [
    "describe_flops",
    "describe_host",
    "describe_kernels",
    "describe_launch_bound",
    "describe_roofline",
    "kernel_rows",
]

_MAX_KERNELS = 6
_MAX_NAME_CHARS = 40
_SHOWN_CACHE_SHARE = 0.7
"""From here on it matters whether outputs ever leave the cache."""


def describe_kernels(profile: Profile) -> str:
    """The kernels of a call, the longest first; empty where they are unknown."""
    if profile.call_us is None or not profile.kernels:
        return ""
    rows = kernel_rows(profile)
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return joined(
        f"Kernels in a call of {describe_time(profile.call_us)}, as the submission's process "
        "reports them:",
        *(
            f"  {name:<{widths[0]}}  {time:>{widths[1]}}  {share:>{widths[2]}}  {how}"
            for name, time, share, how in rows
        ),
        describe_launch_bound(profile),
    )


def kernel_rows(profile: Profile) -> list[tuple[str, str, str, str]]:
    """Name, time in all, share of the call, and how it was launched; what is beyond a few in one row."""
    ranked = sorted(profile.kernels, key=lambda kernel: -kernel.total_us)
    call_us = profile.call_us or math.inf
    rows = [
        (
            kernel.name[:_MAX_NAME_CHARS],
            describe_time(kernel.total_us),
            f"{kernel.total_us / call_us:.0%}",
            _how(kernel),
        )
        for kernel in ranked[:_MAX_KERNELS]
    ]
    if others := ranked[_MAX_KERNELS:]:
        others_us = math.fsum(kernel.total_us for kernel in others)
        launches = sum(kernel.launches for kernel in others)
        rows.append(
            (
                f"{len(others)} more",
                describe_time(others_us),
                f"{others_us / call_us:.0%}",
                _count(launches),
            )
        )
    return rows


def describe_launch_bound(profile: Profile) -> str:
    """A warning where a call takes much longer than its kernels; otherwise empty."""
    kernels_us = math.fsum(kernel.total_us for kernel in profile.kernels)
    call_us = profile.call_us
    if call_us is None or not profile.kernels or call_us <= LAUNCH_BOUND * kernels_us:
        return ""
    ratio = f"{call_us / kernels_us:.1f} times" if kernels_us > 0 else "far more than"
    return f"Warning: launch-bound. A call takes {ratio} what its kernels take."


def describe_host(timing: Timing) -> str:
    """A warning where a user waits for the host and not for the device; otherwise empty."""
    if not timing.is_launch_bound or timing.host_us is None:
        return ""
    return (
        f"Warning: launch-bound. A call keeps the host {describe_time(timing.host_us)}, "
        f"{timing.host_us / timing.time_us:.1f} times what the device takes. The speed-up is the device's; "
        "a user waits for the host: do more in each call of a launcher, and allocate less."
    )


def describe_flops(flops: float) -> str:
    """An amount of arithmetic in the unit that suits it.

    >>> describe_flops(96), describe_flops(33.7e6)
    ('96 FLOP', '33.7 MFLOP')
    """
    for unit, scale in (("TFLOP", 1e12), ("GFLOP", 1e9), ("MFLOP", 1e6), ("kFLOP", 1e3)):
        if flops >= scale:
            return f"{flops / scale:.1f} {unit}"
    return f"{flops:.0f} FLOP"


def describe_roofline(timing: Timing, profile: Profile) -> str:
    """What the task needs at least, and how near the time is; empty where that is unknown."""
    floor, work, rates = floor_of(profile), profile.work, profile.rates
    if floor is None or work is None or rates is None:
        return ""
    moved = describe_bytes(work.read_bytes + work.written_bytes)
    memory = (
        f"at least {moved} ({describe_bytes(work.read_bytes)} read, "
        f"{describe_bytes(work.written_bytes)} written): {describe_time(floor.memory_us)} at the "
        f"{rates.copy_gb_per_s:.1f} GB/s that this device copies"
    )
    arithmetic = "arithmetic not counted" if work.flops is None else "no arithmetic"
    is_named = work.number_format in rates.gflop_per_s_in
    in_format = f" in {work.number_format}" if is_named else ""
    if floor.arithmetic_us and work.flops:
        arithmetic = (
            f"{describe_flops(work.flops)}: {describe_time(floor.arithmetic_us)} at "
            f"{describe_rate(gflop_per_s(rates, work.number_format))}{in_format}"
        )
    share = floor.time_us / timing.time_us
    bound = "arithmetic" if floor.is_arithmetic else "memory"
    cached = (
        f" (All fits the {describe_bytes(rates.cache_bytes)} cache: outputs may stay there, inputs "
        "come from memory.)"
        if floor.fits_cache and not floor.is_arithmetic and share >= _SHOWN_CACHE_SHARE
        else ""
    )
    return (
        f"Roofline ({bound}): {memory}; {arithmetic}. You take {describe_time(timing.time_us)}: "
        f"{share:.0%} of the roofline.{cached}"
    )


def _how(kernel: KernelTime) -> str:
    if not kernel.grid:
        return f"{kernel.launches:,} call{'' if kernel.launches == 1 else 's'}"
    facts = [
        _count(kernel.launches),
        f"grid {_extent(kernel.grid)}, block {_extent(kernel.block)}",
        f"runs as {kernel.mode}" if kernel.mode else None,
    ]
    return ", ".join(fact for fact in facts if fact)


def _count(launches: int) -> str:
    return f"{launches:,} launch{'' if launches == 1 else 'es'}"


def _extent(extent: tuple[int, ...]) -> str:
    """As in CUDA, without ones at the end.

    >>> _extent((4, 1024, 1)), _extent((1, 1, 1))
    ('4x1024', '1')
    """
    used = list(extent)
    while len(used) > 1 and used[-1] == 1:
        used.pop()
    return "x".join(map(str, used))
