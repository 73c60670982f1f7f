"""How fast a call could be: what the task asks for, at the rates of the device. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from cuda_gym.core.verdict import Profile

__all__ = ["Floor", "floor_of"]


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The times below which no submission is to be expected, each alone."""

    memory_us: float
    """Every byte is moved once."""
    arithmetic_us: float | None
    """Nothing is computed twice; None where nobody counts the operators."""
    fits_cache: bool
    """Whether all that a call moves has room in the last cache, so that outputs need not leave it."""

    @property
    def time_us(self) -> float:
        """The higher of the two."""
        return max(self.memory_us, self.arithmetic_us or 0.0)

    @property
    def is_arithmetic(self) -> bool:
        """Whether arithmetic takes longer than moving the bytes."""
        return self.time_us > self.memory_us


def floor_of(profile: Profile | None) -> Floor | None:
    """The floor of a task on a device; None where one of the two is unknown.

    >>> from cuda_gym.core.verdict import DeviceRates, Work
    >>> rates = DeviceRates(copy_gb_per_s=10.0, gflop_per_s=100.0, cache_bytes=1 << 20, num_cores=2)
    >>> floor_of(Profile(work=Work(read_bytes=6_000_000, written_bytes=4_000_000, flops=5e7), rates=rates))
    Floor(memory_us=1000.0, arithmetic_us=500.0, fits_cache=False)
    """
    if profile is None or profile.work is None or profile.rates is None:
        return None
    work, rates = profile.work, profile.rates
    moved = work.read_bytes + work.written_bytes
    return Floor(
        memory_us=moved / rates.copy_gb_per_s / 1e3,
        arithmetic_us=None if work.flops is None else work.flops / rates.gflop_per_s / 1e3,
        fits_cache=moved <= rates.cache_bytes,
    )
