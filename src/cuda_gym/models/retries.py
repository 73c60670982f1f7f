"""When to try a call again: exponential waits with jitter, or as long as the server asks for.

Covered: `Retry-After` in seconds or as a date. Not covered: which failures are worth it, see `endpoint_failures`.
"""

from __future__ import annotations

import email.utils
import math
import random
from dataclasses import dataclass

__all__ = ["Retries", "retry_after_s"]


@dataclass(frozen=True, kw_only=True)
class Retries:
    """How often a call is tried again, and after how long."""

    num_attempts: int = 6
    """The first included; fewer where the time is up before."""
    first_wait_s: float = 0.5
    """Doubled with every attempt."""
    longest_wait_s: float = 20.0

    def __post_init__(self) -> None:
        if self.num_attempts < 1 or not 0 <= self.first_wait_s <= self.longest_wait_s:
            raise ValueError(
                "num_attempts is 1 or more, and 0 <= first_wait_s <= longest_wait_s; got "
                f"{self.num_attempts}, {self.first_wait_s} and {self.longest_wait_s}"
            )

    def wait_s(self, attempt: int, asked_s: float | None, dice: random.Random) -> float:
        """Before the next attempt.

        At least half of it is certain, and the rest is chance, so that clients that were refused together
        do not come back together. What the server asks for is a lower bound.

        Args:
            attempt: The one that failed, from 0.
            asked_s: By the server.
            dice: Where the chance comes from.

        >>> Retries(first_wait_s=1.0).wait_s(2, None, random.Random(0)) // 1
        3.0
        >>> Retries(first_wait_s=1.0).wait_s(2, 30.0, random.Random(0)) >= 30.0
        True
        """
        own_s = min(self.longest_wait_s, self.first_wait_s * 2.0**attempt)
        if asked_s is None:
            return own_s * dice.uniform(0.5, 1.0)
        return asked_s + min(own_s, 0.1 * asked_s) * dice.random()


def retry_after_s(value: str | None, now: float) -> float | None:
    """What a `Retry-After` asks for; None where it is missing or says nothing.

    Args:
        value: Of the header.
        now: Seconds since 1970.

    >>> retry_after_s("1.5", 0.0), retry_after_s("Thu, 01 Jan 1970 00:00:09 GMT", 2.0)
    (1.5, 7.0)
    >>> retry_after_s("soon", 0.0), retry_after_s("nan", 0.0), retry_after_s("-3", 0.0)
    (None, None, 0.0)
    """
    if value is None:
        return None
    try:
        asked_s = float(value)
    except ValueError:
        try:
            asked_s = email.utils.parsedate_to_datetime(value).timestamp() - now
        except ValueError:
            return None
    return None if math.isnan(asked_s) else max(0.0, asked_s)
