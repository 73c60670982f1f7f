"""What Linux seals of shared memory on this machine. Standard library only.

Covered: whether memory that nobody else can write to may still be written by its owner, and be mapped
privately by others, who then see what the owner wrote. Linux can since 5.1, and lets others map it since 5.12.
"""

from __future__ import annotations

import fcntl
import functools
import mmap
import os

__all__ = ["FUTURE_WRITE", "SIZE", "WRITE", "add_seals", "seals_future_writes"]

_F_ADD_SEALS = 1033
SIZE = 1 | 2 | 4
"""Neither seals nor the size can be changed any more."""
WRITE = 8
"""Nobody can write, not even the owner."""
FUTURE_WRITE = 16
"""Nobody can write but through a mapping that is there already."""


def add_seals(descriptor: int, seals: int) -> None:
    """Seal a memfd.

    Raises:
        OSError: this Linux does not know the seal.
    """
    fcntl.fcntl(descriptor, _F_ADD_SEALS, seals)


@functools.cache
def seals_future_writes() -> bool:
    """Whether an owner may go on writing to what is sealed for all others.

    Tried, not asked: a sandbox has its own idea of what Linux it is.
    """
    descriptor = os.memfd_create("trial", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(descriptor, 1)
        ours = mmap.mmap(descriptor, 1)
        add_seals(descriptor, FUTURE_WRITE | SIZE)
        theirs = mmap.mmap(
            descriptor, 1, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE
        )
        before = theirs[:1]
        ours[:1] = b"x"
        return before == b"\0" and theirs[:1] == b"x"
    except OSError:
        return False
    finally:
        os.close(descriptor)
