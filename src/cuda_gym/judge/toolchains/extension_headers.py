"""Fewer of torch's headers: what a binding needs is a tenth of what `torch/extension.h` brings.

    #include <torch/extension.h>      all of torch: 100 s in nvcc
    #include <torch/types.h>          all operators: 37 s
    these                             tensors, and the operators that are named: 19 s

(nvcc 13.0 and torch 2.13, one kernel, two cores on which others worked: the order counts.) A folder is laid before torch's
own, with headers of the same names that include less.

Covered: tensors with all their methods, options, devices, scalar types, dispatch macros, checks,
functions of `torch::` and `at::` that are named in the source; pybind11 where it is. Whoever needs
more is compiled again with all headers.

Not covered: sources whose meaning changes with the headers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from cuda_gym.judge.toolchains.torch_files import TorchFiles

__all__ = ["LightHeaders", "light_headers"]

_REPLACED = ("torch/extension.h", "torch/types.h", "torch/all.h", "torch/torch.h", "ATen/ATen.h")
_INCLUDES = re.compile(r"#\s*include\s*[<\"](?:" + "|".join(map(re.escape, _REPLACED)) + r")[>\"]")
_HEAVY = re.compile(
    r"\btorch\s*::\s*(?:nn|jit|autograd|optim|data|serialize|fft|linalg|special|sparse|nested|"
    r"from_blob|tensor|cuda|save|load|Library|class_|CppFunction)\b|\bTORCH_LIBRARY|\bfrom_blob\b|"
    r"#\s*include\s*[<\"](?:torch/csrc/(?!utils/pybind\.h)|torch/(?:library|script|custom_class|nn|cuda)\b)"
)
_BINDS = re.compile(
    r"\bpy\s*::|\bpybind11\b|\bPYBIND11_|\btorch\s*/\s*csrc/utils/pybind\.h|wrap_pybind"
)
_NAMED = re.compile(r"\b(?:torch|at)\s*::\s*([a-z]\w*)")
_LACKS = re.compile(
    r"namespace \"?'?(?:torch|at|c10|std)\b|is not a member of '(?:torch|at|c10|std)|"
    r"\b(?:AT|TORCH|C10)_\w+[\"'] (?:is undefined|was not declared)|incomplete (?:class )?type|"
    r"undefined reference|[\"']py[\"']|pybind11|is not a class or namespace|light/|torch/include/|"
    r"must be a class or namespace name"
)
_TORCH = """\
#pragma once
#include <algorithm>
#include <array>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>
#include <ATen/core/Tensor.h>
#include <ATen/Dispatch.h>
#include <ATen/TensorUtils.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
{operators}
namespace torch {{
using namespace at;
using std::nullopt;
using std::optional;
using Dtype = at::ScalarType;
constexpr auto kFloat8_e4m3fn = at::kFloat8_e4m3fn;
constexpr auto kU8 = at::kByte;
constexpr auto kUInt8 = at::kByte;
constexpr auto kI8 = at::kChar;
constexpr auto kInt8 = at::kChar;
constexpr auto kI16 = at::kShort;
constexpr auto kInt16 = at::kShort;
constexpr auto kI32 = at::kInt;
constexpr auto kInt32 = at::kInt;
constexpr auto kI64 = at::kLong;
constexpr auto kInt64 = at::kLong;
constexpr auto kF16 = at::kHalf;
constexpr auto kFloat16 = at::kHalf;
constexpr auto kF32 = at::kFloat;
constexpr auto kFloat32 = at::kFloat;
constexpr auto kF64 = at::kDouble;
constexpr auto kFloat64 = at::kDouble;
}}
"""
_CUDA = """\
#pragma once
#include <cuda_runtime_api.h>
#include <c10/core/Device.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/macros/Export.h>
namespace at::cuda {
TORCH_CUDA_CPP_API cudaDeviceProp* getCurrentDeviceProperties();
TORCH_CUDA_CPP_API cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device);
TORCH_CUDA_CPP_API int warp_size();
}
#ifndef AT_CUDA_CHECK
#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)
#endif
"""
"""torch's own asks for the headers of four libraries, for the types of their handles."""


@dataclass(frozen=True, kw_only=True)
class LightHeaders:
    """A folder to lay before torch's own."""

    files: Mapping[str, str]
    """Texts by path in it."""

    def may_lack(self, said: str) -> bool:
        """Whether a compiler has failed in a way that more headers might have prevented."""
        return bool(_LACKS.search(said))


def light_headers(files: Mapping[str, str], unit: str, torch: TorchFiles) -> LightHeaders | None:
    """The headers for one unit; None where it wants all of them, or none.

    Args:
        files: All sources of the module.
        unit: The one that is compiled.
        torch: Whose headers they are.
    """
    parts = [files[unit]] + [t for p, t in files.items() if p.endswith((".h", ".cuh", ".hpp"))]
    text = "\n".join(parts)
    if not _INCLUDES.search(text) or _HEAVY.search(text):
        return None
    operators = torch.include_folders[0] / "ATen" / "ops"
    names = sorted(set(_NAMED.findall(text)))
    found = [f"#include <ATen/ops/{n}.h>" for n in names if (operators / f"{n}.h").is_file()]
    light = _TORCH.format(operators="\n".join(found))
    binds = "#include <torch/csrc/utils/pybind.h>\n" if _BINDS.search(text) else ""
    wraps = "#include <torch/csrc/Exceptions.h>\n" if "wrap_pybind" in text else ""
    return LightHeaders(
        files={
            "cuda_gym_torch.h": light,
            **dict.fromkeys(_REPLACED, "#pragma once\n#include <cuda_gym_torch.h>\n"),
            "ATen/cuda/CUDAContext.h": _CUDA,
            "torch/extension.h": f"#pragma once\n#include <cuda_gym_torch.h>\n{binds}{wraps}",
        }
    )
