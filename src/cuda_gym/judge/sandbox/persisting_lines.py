"""Lines of a GPU's L2 that were asked to stay: no flush of the cache takes them out of it.

They are lines of one cache, whoever asks: what a submission keeps there is there in its next call, and is
room that a reference on the same GPU does not have.

Covered: lines that anybody has made before a block, and before each call those of a process that has set a part
of the cache aside for them. Not covered: a submission that takes this apart from inside.
"""

from __future__ import annotations

from typing import Any

__all__ = ["PersistingLines"]


class PersistingLines:
    """As one process with a context sees them; nothing where NVIDIA's bindings are not installed."""

    def __init__(self) -> None:
        self._end: Any = None
        self._limit: Any = None
        try:
            from cuda.bindings import driver
        except ImportError:
            return
        # Bound here: a submission may put its own in their places later.
        self._end = driver.cuCtxResetPersistingL2Cache
        self._limit = driver.cuCtxGetLimit
        self._kind = driver.CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE

    def end(self) -> None:
        """Make them ordinary ones, whoever has asked for them; where a GPU has none, that does nothing."""
        if self._end is not None:
            self._end()

    def can_be_made(self) -> bool:
        """Whether this process has set a part of the cache aside for them: none is to begin with."""
        if self._limit is None:
            return False
        status, num_bytes = self._limit(self._kind)
        return not int(status) and num_bytes > 0
