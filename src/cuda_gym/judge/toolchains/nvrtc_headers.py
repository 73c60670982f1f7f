"""What kernels may include where NVRTC compiles them: it has no headers of its own.

    of the toolkit   cuda_fp16.h and its kind: a folder of a toolkit or of wheels, of the same major version
    of C             names that nvcc gives every kernel (`uint32_t`, `INFINITY`), and `<math.h>` and its kind

Covered: toolkits where nvcc is or where variables say, the wheels of CUDA 12 and 13. Not covered:
headers of C++ libraries; sources that include them are for nvcc.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.toolkit import find_nvcc

__all__ = ["ALWAYS", "C_HEADERS", "DEVICE_HEADERS", "DeviceHeaders", "device_headers"]

DEVICE_HEADERS = frozenset(
    {
        "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h",
        "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h",
        "cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h",
        "cooperative_groups/memcpy_async.h", "mma.h", "cuda_pipeline.h",
        "cuda_pipeline_primitives.h", "cuda_awbarrier.h", "cuda_awbarrier_primitives.h",
        "math_constants.h", "vector_types.h", "vector_functions.h", "cuComplex.h",
        "device_functions.h", "math_functions.h",
    }
)  # fmt: skip
"""Headers of a toolkit that have nothing for the host which kernels would miss."""

ALWAYS = "cuda_gym_always.h"
"""Included in front of every file."""

_INTEGERS = """\
#pragma once
typedef signed char int8_t; typedef unsigned char uint8_t;
typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned int uint32_t;
typedef long long int64_t; typedef unsigned long long uint64_t;
typedef long long intptr_t; typedef unsigned long long uintptr_t;
"""
_LIMITS = """\
#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807l - 1)
#define LONG_MAX 9223372036854775807l
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
"""
_MATH = """\
#pragma once
#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#define NAN __builtin_bit_cast(float, 0x7fffffff)
#define HUGE_VALF INFINITY
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000ll)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
"""
_FLOATS = """\
#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MAX_EXP 128
#define FLT_MIN_EXP (-125)
#define FLT_MAX 3.402823466385288598e+38f
#define FLT_MIN 1.175494350822287508e-38f
#define FLT_EPSILON 1.192092895507812500e-07f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MAX_EXP 1024
#define DBL_MIN_EXP (-1021)
#define DBL_MAX 1.797693134862315708e+308
#define DBL_MIN 2.225073858507201383e-308
#define DBL_EPSILON 2.220446049250313081e-16
"""
_FIXED = """\
#pragma once
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807ll - 1)
#define INT64_MAX 9223372036854775807ll
#define UINT64_MAX 18446744073709551615ull
#define SIZE_MAX 18446744073709551615ul
"""
_IN_STD = """\
#pragma once
#include <stdint.h>
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::size_t; using ::ptrdiff_t;
}
"""
_BUILT_IN = "#pragma once\n"

C_HEADERS: Mapping[str, str] = {
    "stdint.h": _INTEGERS + _FIXED,
    "cstdint": _IN_STD,
    "limits.h": _LIMITS,
    "climits": _LIMITS,
    "float.h": _FLOATS,
    "cfloat": _FLOATS,
    "math.h": _MATH,
    **dict.fromkeys(("stddef.h", "stdio.h", "cstdio", "assert.h", "cassert"), _BUILT_IN),
    ALWAYS: "#pragma once\n#include <stdint.h>\n#include <limits.h>\n#include <math.h>\n",
}
"""By name, what stands for headers of C; of what NVRTC declares itself nothing is left to say."""


class DeviceHeaders(NamedTuple):
    """The headers of one toolkit."""

    version: str
    """`13.0`."""
    folders: tuple[Path, ...]


def device_headers(major: int) -> DeviceHeaders | None:
    """The headers of the first toolkit of a major version; None where there is none."""
    return _device_headers(major, shutil.which("nvcc"), *map(os.environ.get, _VARIABLES))


_VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDA_GYM_NVCC")
_VERSION_FILE = "cuda_runtime_api.h"
_VERSION = re.compile(r"#define\s+CUDART_VERSION\s+(\d+)")
_TOP = re.compile(r"^#\$ TOP=(.+)$", re.MULTILINE)


@lru_cache
def _device_headers(major: int, *_where: str | None) -> DeviceHeaders | None:
    for folder in _candidates():
        found = _VERSION.search(_text(folder / _VERSION_FILE))
        if found and int(found[1]) // 1000 == major:
            beside = (folder / "cccl", folder.parent.parent / "cuda_cccl" / "include")
            return DeviceHeaders(
                f"{major}.{int(found[1]) % 1000 // 10}",
                (folder, *(path for path in beside if path.is_dir())),
            )
    return None


def _candidates() -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if home := os.environ.get(variable):
            yield Path(home) / "include"
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    if top := _top_of_nvcc():
        yield top / "include"
    yield Path("/usr/local/cuda/include")
    yield from sorted(packages.glob("cu[0-9]*/include"), reverse=True)
    yield packages / "cuda_runtime" / "include"


def _top_of_nvcc() -> Path | None:
    """The folder of the toolkit that nvcc belongs to, which may be another than the program's own."""
    try:
        command = [find_nvcc().command[0], "--dryrun", "-x", "cu", "-E", os.devnull]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (MissingTool, OSError, subprocess.SubprocessError):
        return None
    found = _TOP.search(said.stderr)
    return Path(found[1].strip()).resolve() if found else None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
