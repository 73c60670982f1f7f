"""Memory that is not there: what is free on a device, and whose fault it is where that is too little.

A task that needs more than the device has is the task's fault. One that would fit, if nothing else
were there, is the machine's. Not covered: the CPU's memory, whose limits differ from what is free;
there only a request for more than the machine has is the task's fault.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from typing import Final

import torch

from cuda_gym.errors import NotAdmitted, OutOfDeviceMemory

__all__ = ["free_bytes", "is_out_of_memory", "memory_told", "out_of_memory"]

_SIGNS: Final = ("out of memory", "can't allocate memory", "ALLOC_FAILED")
_ASKED: Final = re.compile(r"tried to allocate ([\d.]+) ?(bytes|KiB|MiB|GiB|TiB)", re.IGNORECASE)
_UNITS: Final = {"bytes": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def free_bytes(device: torch.device) -> int | None:
    """What this process could still allocate there; None on the CPU, where nobody can say.

    >>> free_bytes(torch.device("cpu")) is None
    True
    """
    if device.type != "cuda":
        return None
    free, _ = torch.cuda.mem_get_info(device)
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return free + unused


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory could not be had, on whatever device.

    >>> is_out_of_memory(MemoryError()), is_out_of_memory(RuntimeError("CUDA out of memory."))
    (True, True)
    """
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in _SIGNS)


def out_of_memory(
    name: str, what: str, error: BaseException, device: torch.device
) -> NotAdmitted | OutOfDeviceMemory:
    """The error that stands for one of `is_out_of_memory`.

    Args:
        name: The task.
        what: What was being done.
        error: What was raised.
        device: Where the task runs.
    """
    asked = _asked_bytes(str(error))
    if device.type == "cuda" and not _is_of_the_host(error):
        free, total = torch.cuda.mem_get_info(device)
        peak, held = torch.cuda.max_memory_allocated(device), torch.cuda.memory_allocated(device)
        # What was asked for comes on top of what was held just then, which is at most the peak.
        needed = max(peak, held + asked)
        left = f"{free:,} of the {total:,} bytes of {device} are free"
    else:
        needed, total = asked, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        left = f"this machine has {total:,}"
    if needed > total:
        return NotAdmitted(
            f"{name}: {what} needs at least {needed:,} bytes of memory, and {left}. "
            "Make its shapes smaller."
        )
    need = f": it needs {needed:,} bytes" if needed else ""
    return OutOfDeviceMemory(
        f"{name}: {what} ran out of memory{need}, and {left}. "
        "End what else uses the device, or choose a task with smaller shapes."
    )


@contextlib.contextmanager
def memory_told(name: str, what: str, device: torch.device) -> Iterator[None]:
    """Turn a failure to allocate into an error that says how much is needed.

    Raises:
        NotAdmitted: the task needs more than there is.
        OutOfDeviceMemory: it would fit, if nothing else were there.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise out_of_memory(name, what, error, device) from error


def _is_of_the_host(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or "DefaultCPUAllocator" in str(error)


def _asked_bytes(message: str) -> int:
    """How much the allocator was asked for; 0 where it does not say.

    >>> _asked_bytes("CUDA out of memory. Tried to allocate 1.50 KiB. GPU 0 has")
    1536
    """
    found = _ASKED.search(message)
    return round(float(found[1]) * _UNITS[found[2].lower()]) if found else 0
