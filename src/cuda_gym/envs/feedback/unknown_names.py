"""Why a name is not known: its header is missing, it comes later, or it lives elsewhere."""

from __future__ import annotations

import difflib
import re

from cuda_gym.core.findings import Diagnostic
from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback.error_groups import undeclared_name
from cuda_gym.envs.feedback.excerpts import source_lines
from cuda_gym.judge.verification.cpp_text import mask

__all__ = ["explain_unknown"]

_HEADERS = (
    (r"__nv_bfloat16\w*|__bfloat16\w*|\w*bfloat16\w*|nv_bfloat162?", "cuda_bf16.h"),
    (r"__half2?|half2?|__\w*half\w*|__h[a-z]+2?|h(?:exp|log|sqrt|rcp|sin|cos)", "cuda_fp16.h"),
    (r"__nv_fp8\w*", "cuda_fp8.h"),
    (r"cg|cooperative_groups", "cooperative_groups.h"),
    (r"wmma|nvcuda", "mma.h"),
    (r"cub", "cub/cub.cuh"),
    (r"FLT_\w+|DBL_\w+", "cfloat"),
    (r"(?:U?INT|LONG|ULONG)_(?:MAX|MIN)", "climits"),
    (r"u?int(?:8|16|32|64)_t|U?INT(?:8|16|32|64)_(?:MAX|MIN)", "cstdint"),
    (r"printf", "cstdio"),
    (r"assert", "cassert"),
    (r"M_PI|INFINITY|NAN", "cmath"),
)
_MIN_SIMILAR = 4
_NAMES = (
    *("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "__syncthreads", "__syncwarp"),
    *("__shfl_sync", "__shfl_down_sync", "__shfl_xor_sync", "atomicAdd", "atomicMax", "atomicCAS"),
    *("make_float4", "make_float2", "cudaStream_t", "__global__", "__device__", "__shared__"),
    *("__restrict__", "__forceinline__", "INFINITY", "__shfl_up_sync", "__ballot_sync"),
)


def explain_unknown(_: re.Match[str], diagnostic: Diagnostic, submission: Submission) -> str | None:
    """A fact about a name that the compiler does not know; None where there is none to tell."""
    lines = source_lines(submission, diagnostic.file)
    name = undeclared_name(diagnostic.message)
    if name is None and "name followed by" in diagnostic.message:
        text = (
            lines[diagnostic.line - 1] if diagnostic.line and diagnostic.line <= len(lines) else ""
        )
        scope = re.match(r"\w+(?=::)", text[(diagnostic.column or 1) - 1 :])
        name = None if scope is None else scope[0]
    if name is None:
        return None
    if name in ("torch", "at", "c10", "aten", "TORCH_CHECK", "PYBIND11_MODULE", "py"):
        return "kernels/*.cu know no tensors: a launcher takes pointers, numbers and cudaStream_t"
    for pattern, header in _HEADERS:
        if re.fullmatch(pattern, name) and not _includes(lines, header):
            return f"#include <{header}>"
    spelt = next((n for n in _NAMES if n.lower().strip("_") == name.lower().strip("_")), None)
    if spelt is not None and spelt != name:
        return f"it is spelt {spelt}"
    if found := _elsewhere(name, lines, diagnostic.line or 0):
        return found
    return None if "did you mean" in diagnostic.message else _similar(name, lines)


def _includes(lines: list[str], header: str) -> bool:
    return any(re.match(rf"\s*#\s*include\s*[<\"]{re.escape(header)}", line) for line in lines)


def _elsewhere(name: str, lines: list[str], line: int) -> str | None:
    """Where else in the file it is declared."""
    code = mask("\n".join(lines)).split("\n")
    word = re.escape(name)
    function = re.compile(rf"^(?=\S)(?!#).*\b{word}\s*\((?!.*;\s*$)")
    for number in range(max(line, 0) + 1, len(code) + 1):
        if function.search(code[number - 1]):
            return f"{name} is defined below, at line {number}: move it above its use, or declare it there"
    # A type in front, and no word that could stand in front of an expression.
    variable = re.compile(
        rf"\b(?!return|else|case|goto|new|delete|throw)[A-Za-z_]\w*[\s*&>]+{word}\s*(?:=(?!=)|;|\[|,|\))"
    )
    for number in range(min(line - 1, len(code)), 0, -1):
        if variable.search(code[number - 1]):
            return f"the {name} of line {number} is in another block or function"
    return None


def _similar(name: str, lines: list[str]) -> str | None:
    """A name of CUDA or of the file that is spelt nearly so; GCC says it by itself, nvcc does not."""
    if len(name) < _MIN_SIMILAR:
        return None
    words = set(re.findall(r"[A-Za-z_]\w{2,}", mask("\n".join(lines)))) - {name}
    near = difflib.get_close_matches(name, sorted({*words, *_NAMES}), n=1, cutoff=0.8)
    return f"did you mean {near[0]}?" if near else None
