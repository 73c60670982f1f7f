"""What is said of Linux here can be done."""

from __future__ import annotations

import mmap
import os

import pytest

from cuda_gym.judge.profiling import memory_seals


def test_what_is_sealed_for_all_others_its_owner_writes_to_where_that_is_told() -> None:
    if not memory_seals.seals_future_writes():
        pytest.skip("this Linux lets no owner write to what it sealed")
    descriptor = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, 4)
    ours = mmap.mmap(descriptor, 4)
    memory_seals.add_seals(descriptor, memory_seals.FUTURE_WRITE | memory_seals.SIZE)
    ours[:4] = b"ours"
    with pytest.raises(PermissionError):
        os.pwrite(descriptor, b"x", 0)
    with pytest.raises(PermissionError):
        mmap.mmap(descriptor, 4)
    with pytest.raises(PermissionError):
        memory_seals.add_seals(descriptor, memory_seals.WRITE)
    assert os.pread(descriptor, 4, 0) == b"ours"
    os.close(descriptor)


def test_where_a_seal_is_unknown_nothing_is_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_seals, "FUTURE_WRITE", 1 << 20)
    assert not memory_seals.seals_future_writes.__wrapped__()
