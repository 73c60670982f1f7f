"""Disks of a mount namespace of its own: small, full, read-only."""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS, _MS_RDONLY, _MS_REMOUNT, _MS_REC, _MS_PRIVATE = 0x00020000, 1, 32, 0x4000, 1 << 18
_SMALL = b"size=96m"
_FILLER = "filler"


def can_mount() -> bool:
    """Whether this user may have a mount namespace; asked in a process of its own."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if _enter() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def mount_small_disk(folder: Path) -> None:
    """For this process and those it starts, an empty disk of 96 MiB on a folder."""
    assert _enter()
    folder.mkdir(parents=True, exist_ok=True)
    _mount(folder, 0, _SMALL)


def fill(folder: Path) -> None:
    with (folder / _FILLER).open("wb") as file, contextlib.suppress(OSError):
        while True:
            os.write(file.fileno(), bytes(4096))


def free(folder: Path) -> None:
    (folder / _FILLER).unlink()


def make_read_only(folder: Path) -> None:
    _mount(folder, _MS_REMOUNT | _MS_RDONLY, _SMALL)


def make_writable(folder: Path) -> None:
    _mount(folder, _MS_REMOUNT, _SMALL)


def _enter() -> bool:
    entered = _libc.unshare(_CLONE_NEWNS) == 0
    private = entered and _libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None) == 0
    return bool(private)


def _mount(folder: Path, flags: int, options: bytes) -> None:
    if _libc.mount(b"tmpfs", bytes(folder), b"tmpfs", flags, options) != 0:
        raise OSError(ctypes.get_errno(), "mount", str(folder))
