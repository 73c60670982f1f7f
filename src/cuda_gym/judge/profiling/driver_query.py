"""A program that asks NVIDIA's driver which GPUs there are, and prints the answer as JSON.

It is run in a process of its own, because asking leaves traces: whoever has initialised the driver
cannot fork a child that uses it, and a broken driver may keep the one who asks for ever. It imports
nothing of this package, so that it starts in milliseconds.

Covered: `CUDA_VISIBLE_DEVICES`, slices of a card (MIG), drivers since CUDA 11. Not covered: what only
NVML tells, as which card a slice belongs to.
"""

from __future__ import annotations

import ctypes
import json
import sys
import uuid
from typing import Any

_LIBRARIES = ("libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1")
"""By name, and where WSL keeps it."""

_ATTRIBUTES = {
    "num_multiprocessors": 16,
    "compute_mode": 20,
    "memory_clock_khz": 36,
    "bus_bits": 37,
    "l2_bytes": 38,
    "major": 75,
    "minor": 76,
    "has_virtual_memory": 102,
    "exports_descriptors": 103,
}
"""Numbers of the driver's interface, `CUdevice_attribute`; an older driver does not know the last."""


class DriverError(Exception):
    """A call that failed, and its status."""


def main() -> None:
    """Print one document: `{"gpus": [...]}`, or the call that failed and its status."""
    answer: dict[str, Any] = {"cuda": 0, "gpus": []}
    driver = _load()
    if driver is None:
        answer["error"] = ["dlopen", 0]
    else:
        try:
            answer["cuda"] = _version(driver)
            _call(driver, "cuInit", 0)
            answer["gpus"] = [_gpu(driver, index) for index in range(_count(driver))]
        except DriverError as error:
            answer["error"] = list(error.args)
    sys.stdout.write(json.dumps(answer))


def _load() -> ctypes.CDLL | None:
    for name in _LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _call(driver: ctypes.CDLL, name: str, *arguments: Any) -> None:
    function = getattr(driver, name, None)
    if function is None:
        raise DriverError(name, -1)
    if status := int(function(*arguments)):
        raise DriverError(name, status)


def _version(driver: ctypes.CDLL) -> int:
    version = ctypes.c_int()
    _call(driver, "cuDriverGetVersion", ctypes.byref(version))
    return version.value


def _count(driver: ctypes.CDLL) -> int:
    count = ctypes.c_int()
    _call(driver, "cuDeviceGetCount", ctypes.byref(count))
    return count.value


def _gpu(driver: ctypes.CDLL, index: int) -> dict[str, Any]:
    device = ctypes.c_int()
    _call(driver, "cuDeviceGet", ctypes.byref(device), index)
    name, place = ctypes.create_string_buffer(256), ctypes.create_string_buffer(64)
    memory = ctypes.c_size_t()
    _call(driver, "cuDeviceGetName", name, len(name), device)
    _call(driver, "cuDeviceTotalMem_v2", ctypes.byref(memory), device)
    _call(driver, "cuDeviceGetPCIBusId", place, len(place), device)
    return {
        "index": index,
        "name": name.value.decode(errors="replace"),
        "uuid": _uuid(driver, device),
        "pci": place.value.decode(errors="replace"),
        "memory_bytes": memory.value,
        **{key: _attribute(driver, number, device) for key, number in _ATTRIBUTES.items()},
    }


def _uuid(driver: ctypes.CDLL, device: ctypes.c_int) -> str:
    """The second form of the call names a slice; the first, of older drivers, the whole card."""
    held = ctypes.create_string_buffer(16)
    try:
        _call(driver, "cuDeviceGetUuid_v2", held, device)
    except DriverError:
        _call(driver, "cuDeviceGetUuid", held, device)
    return str(uuid.UUID(bytes=held.raw))


def _attribute(driver: ctypes.CDLL, number: int, device: ctypes.c_int) -> int | None:
    value = ctypes.c_int()
    try:
        _call(driver, "cuDeviceGetAttribute", ctypes.byref(value), number, device)
    except DriverError:
        return None
    return value.value


if __name__ == "__main__":
    main()
