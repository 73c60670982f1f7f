"""One lock a physical device: shared for any work on it, exclusive for timing.

Held by the judge alone: the descriptors are close-on-exec and never handed to a worker, and the
kernel releases them when their process dies, so no lock is ever stale. Whoever wants to time takes
the turnstile first; whoever wants to work passes through it. So a stream of work cannot starve a
timing.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.errors import StorageError


class DeviceLock:
    """The lock of one device, across threads and processes of this machine."""

    def __init__(self, device: Device, folder: Path | None = None) -> None:
        base = folder or Path(tempfile.gettempdir()) / f"cuda_gym-{os.getuid()}"
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"The folder {base} for device locks cannot be made: {error.strerror}. "
                "Set TMPDIR to a folder that can be written."
            ) from error
        name = str(device).replace(":", "")
        self._turnstile = base / f"{name}.turnstile.lock"
        self._device = base / f"{name}.lock"

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Work on the device, beside others that work."""
        with _held(self._turnstile, fcntl.LOCK_SH):
            held = _take(self._device, fcntl.LOCK_SH)
        try:
            yield
        finally:
            os.close(held)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Time on the device, alone."""
        with _held(self._turnstile, fcntl.LOCK_EX), _held(self._device, fcntl.LOCK_EX):
            yield


@contextmanager
def _held(path: Path, mode: int) -> Iterator[None]:
    descriptor = _take(path, mode)
    try:
        yield
    finally:
        os.close(descriptor)


def _take(path: Path, mode: int) -> int:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise StorageError(f"The lock file {path} cannot be opened: {error.strerror}.") from error
    fcntl.flock(descriptor, mode)
    return descriptor
