"""Small words that several pages share."""

from __future__ import annotations

__all__ = ["describe_bytes", "describe_rate", "describe_time", "joined"]


def describe_bytes(count: float) -> str:
    """An amount of memory in the decimal unit that suits it.

    >>> describe_bytes(96), describe_bytes(4_194_304), describe_bytes(1.2e10)
    ('96 B', '4.19 MB', '12.0 GB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.{2 if count < 10 * scale else 1}f} {unit}"
    return f"{count:.0f} B"


def describe_rate(gflop_per_s: float) -> str:
    """A rate of arithmetic in the unit that suits it.

    >>> describe_rate(123.4), describe_rate(792_400)
    ('123 GFLOP/s', '792 TFLOP/s')
    """
    if gflop_per_s >= 1e4:
        return f"{gflop_per_s / 1e3:.3g} TFLOP/s"
    return f"{gflop_per_s:.0f} GFLOP/s"


def describe_time(time_us: float) -> str:
    """A time in the unit that suits it.

    >>> describe_time(0.5), describe_time(12.34), describe_time(2500), describe_time(3.2e6)
    ('0.500 us', '12.3 us', '2.50 ms', '3.20 s')
    """
    for unit, scale in (("s", 1e6), ("ms", 1e3)):
        if time_us >= scale:
            return (
                f"{time_us / scale:.3g} {unit}"
                if time_us / scale >= 100
                else f"{time_us / scale:.2f} {unit}"
            )
    return f"{time_us:.1f} us" if time_us >= 10 else f"{time_us:.3f} us"


def joined(*parts: str) -> str:
    """The parts that are not empty, a line each."""
    return "\n".join(part for part in parts if part)
