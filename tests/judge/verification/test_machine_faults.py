from __future__ import annotations

import errno
import os

import pytest

from cuda_gym.errors import OutOfDeviceMemory, StorageError
from cuda_gym.judge.verification.machine_faults import machine_fault


def _wrapped(error: Exception, *, told: str = "something else failed") -> Exception:
    try:
        try:
            raise error
        except type(error) as cause:
            raise RuntimeError(told) from cause
    except RuntimeError as outer:
        return outer


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EMFILE])
def test_a_disk_or_a_table_of_files_is_the_machines(number: int) -> None:
    error = OSError(number, os.strerror(number))
    assert type(machine_fault(error)) is StorageError
    assert type(machine_fault(_wrapped(error))) is StorageError


def test_memory_is_the_machines() -> None:
    assert type(machine_fault(MemoryError())) is OutOfDeviceMemory
    assert type(machine_fault(OSError(errno.ENOMEM, "no"))) is OutOfDeviceMemory


def test_a_compiler_that_says_that_its_disk_is_full_is_believed() -> None:
    said = "cc1plus: fatal error: error writing to x.s: No space left on device"
    assert type(machine_fault(RuntimeError(said))) is StorageError


@pytest.mark.parametrize(
    "error", [ValueError("x"), FileNotFoundError(errno.ENOENT, "x"), KeyError("x")]
)
def test_what_a_task_does_itself_is_not(error: Exception) -> None:
    assert machine_fault(error) is None
    assert machine_fault(_wrapped(error)) is None
