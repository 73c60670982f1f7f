"""One lock a physical device: shared for any work on it, exclusive for timing.

Held by the judge alone: the descriptors are close-on-exec and never handed to a worker, and the
kernel releases them when their process dies, so no lock is ever stale. Whoever wants to time takes
the turnstile first; whoever wants to work passes through it. So a stream of work cannot starve a
timing.

A GPU is known by the UUID of the card, whatever number a process gives it; slices of one card share it.
`CUDA_GYM_LOCK_LOG` may name a file to which every interval is appended, as a line of JSON.

Not covered: other users of the machine, and processes with another TMPDIR; their locks are others.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.errors import StorageError
from cuda_gym.judge.profiling.gpus import list_gpus


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
        name = _name(device)
        self._turnstile = base / f"{name}.turnstile.lock"
        self._device = base / f"{name}.lock"

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Work on the device, beside others that work."""
        with _held(self._turnstile, fcntl.LOCK_SH):
            held = _take(self._device, fcntl.LOCK_SH)
        try:
            with _logged("shared"):
                yield
        finally:
            os.close(held)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Time on the device, alone."""
        with (
            _held(self._turnstile, fcntl.LOCK_EX),
            _held(self._device, fcntl.LOCK_EX),
            _logged("exclusive"),
        ):
            yield


def _name(device: Device) -> str:
    """Of the physical device, the same in every process."""
    if device.kind == "cuda":
        for gpu in list_gpus():
            if gpu.index == device.index:
                return gpu.lock_uuid
    return str(device).replace(":", "")


@contextmanager
def _logged(mode: str) -> Iterator[None]:
    """Append when it was held, inside the time for which it was, where somebody asks for it."""
    path = os.environ.get("CUDA_GYM_LOCK_LOG")
    start_ns = time.monotonic_ns()
    try:
        yield
    finally:
        if path:
            interval = {"pid": os.getpid(), "mode": mode, "start_ns": start_ns}
            line = json.dumps({**interval, "end_ns": time.monotonic_ns()}) + "\n"
            with open(path, "a", encoding="utf-8") as log:  # noqa: PTH123 - one write, appended whole
                log.write(line)


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
