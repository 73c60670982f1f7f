"""Whose fault an error is that came up while a task's own code ran: the machine's, or the task's.

Covered: memory, disks and descriptors that could not be had, also where another error was raised for them.
Not covered: what a library says in its own words only.
"""

from __future__ import annotations

import errno
import os
from typing import Final

from cuda_gym.errors import MachineError, OutOfDeviceMemory, StorageError
from cuda_gym.judge.verification.allocation import is_out_of_memory

__all__ = ["machine_fault"]

_STORAGE: Final = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE,
)  # fmt: skip
"""A disk that is full, broken or read-only; too many open files. No task can help it."""
_TOLD: Final = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EROFS)))
"""What a compiler says of it, who is a process of its own."""


def machine_fault(error: BaseException) -> MachineError | None:
    """The error that stands for one of the machine; None where it is the task's.

    >>> machine_fault(OSError(28, "No space left on device"))
    StorageError('The reference raised OSError: [Errno 28] No space left on device')
    >>> machine_fault(OSError(2, "No such file or directory"))
    """
    reason = str(error).strip().partition("\n")[0]
    told = f"The reference raised {type(error).__name__}: {reason}"
    cause: BaseException | None = error
    while cause is not None:
        if is_out_of_memory(cause):
            return OutOfDeviceMemory(told)
        is_storage = isinstance(cause, OSError) and cause.errno in _STORAGE
        if is_storage or any(words in str(cause) for words in _TOLD):
            return StorageError(told)
        cause = cause.__cause__ or cause.__context__
    return None
