"""A driver that is not there: a libcuda.so.1 that answers as the environment tells it to.

What is under test asks it in a process of its own, through the loader, as it asks the real one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuda_gym.judge.profiling import gpus

_SOURCE = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}
int cuInit(unsigned flags) {
    (void)flags;
    if (number("FAKE_HANG", 0)) sleep(60);
    if (number("FAKE_CRASH", 0)) abort();
    return (int)number("FAKE_INIT", 0);
}
int cuDriverGetVersion(int *version) { *version = (int)number("FAKE_CUDA", 13000); return 0; }
int cuDeviceGetCount(int *count) { *count = (int)number("FAKE_COUNT", 1); return 0; }
int cuDeviceGet(int *device, int index) { *device = index; return 0; }
int cuDeviceGetName(char *name, int size, int device) {
    (void)device;
    const char *told = getenv("FAKE_NAME");
    strncpy(name, told ? told : "NVIDIA H200", (size_t)size);
    return 0;
}
int cuDeviceGetUuid(unsigned char *uuid, int device) {
    memset(uuid, 0xab, 16);
    uuid[15] = (unsigned char)device;
    return 0;
}
#ifndef OLD
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
    memset(uuid, 0xcd, 16);
    uuid[15] = (unsigned char)device;
    return 0;
}
#endif
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    *bytes = (size_t)number("FAKE_MEMORY_GIB", 140) << 30;
    return 0;
}
int cuDeviceGetPCIBusId(char *place, int size, int device) {
    (void)device;
    strncpy(place, "0000:3b:00.0", (size_t)size);
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    switch (attribute) {
    case 16: *value = 132; return 0;
    case 20: *value = (int)number("FAKE_COMPUTE_MODE", 0); return 0;
    case 36: *value = (int)number("FAKE_MEMORY_KHZ", 3201000); return 0;
    case 37: *value = 6144; return 0;
    case 38: *value = 60 << 20; return 0;
    case 75: *value = (int)number("FAKE_CAPABILITY", 90) / 10; return 0;
    case 76: *value = (int)number("FAKE_CAPABILITY", 90) % 10; return 0;
    case 102: *value = 1; return 0;
    case 103:
        if (number("FAKE_EXPORT", 1) < 0) return 1;
        *value = (int)number("FAKE_EXPORT", 1);
        return 0;
    default: return 1;
    }
}
"""


def build_driver(folder: Path, *, is_old: bool = False) -> Mapping[str, str]:
    """The driver, built into a folder; what the environment needs so that it is found."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder.mkdir(parents=True, exist_ok=True)
    source, library = folder / "driver.c", folder / "libcuda.so.1"
    source.write_text(_SOURCE)
    options = ["-DOLD"] if is_old else []
    subprocess.run(
        [compiler, "-x", "c", "-shared", "-fPIC", *options, "-o", str(library), str(source)],
        check=True,
    )
    return {"LD_LIBRARY_PATH": str(folder)}


@contextmanager
def driver(folder: Path, **facts: str) -> Iterator[None]:
    """This process asks that driver, which has these facts, as if for the first time."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**build_driver(folder), **facts}.items():
            patch.setenv(name, value)
        gpus._found.cache_clear()
        try:
            yield
        finally:
            gpus._found.cache_clear()


def environment(folder: Path, **facts: str) -> dict[str, str]:
    """Ours, with that driver and these facts."""
    return {**os.environ, **build_driver(folder), **facts}
