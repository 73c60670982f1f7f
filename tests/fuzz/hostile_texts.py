"""Texts that are almost right: real ones with pieces left out, doubled, moved, and strange ones put in.

`CUDA_GYM_FUZZ_EXAMPLES` says how many each test tries; without it as many as a test run has time for.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from cuda_gym.agents.scripted import load_solution, solved_tasks

__all__ = ["broken", "fuzzed", "real_kernels", "real_models"]

_CUDA = (
    "__global__ ", "__device__ ", "__shared__ ", "extern __shared__ float s[];", 'extern "C" ', "template <int N>",
    "<<<1, 2>>>(x);", "<<<", ">>>", "__syncthreads();", "#define M(x) x ## x\n", "#if 0\n", "#endif\n", "#line 3\n",
    '#include "other.cuh"\n', "namespace a {", "{", "}", "(", ")", "[", "]", "<", ">", ";", ",", "/*", "*/", "//", "\\\n",
    '"', "'", 'R"(', ')"', "0x", "1'000", "for (;;)", "if (x) return;", "else", "do", "while (1);", "switch (x) { case 1:",
    "goto end;", "end:", "return;", "int ", "float4 ", "auto ", "[&]", "const ", "::", "->", "...", "= {", "__launch_bounds__(32)",
    "threadIdx.x", "asm(\"\");", "typedef ", "struct S {", "operator", "\0", "\ud800", "\u2028", "\r\n", "\x0b", "é", "🎉", "\ufeff",
)  # fmt: skip
_PYTHON = (
    "\n", "    ", "\t", ":", "(", ")", "[", "]", "{", "}", '"""', "'", '"', "#", "\\\n", "class ModelNew:", "def forward(self, x):",
    "import cuda_extension\n", "from torch import *\n", "cuda_extension.kernel('k')[1, 1](x)", "getattr(torch, 'relu')(x)",
    "lambda: ", "async ", "await ", "yield ", "*", "**", "=", ":=", "@", "if True:\n", "match x:\n", "f'{x!r:>{y}}'", "b'\\xff'",
    "TASK = {'band': 'hard'}\n", "TASK = {'sizes': {'cuda': {'n': 3}}}\n", "1" * 5000, "-" * 300, "(" * 300, "\0", "\ud800",
    "\u2028", "\r", "\x0c", "é", "\ufeff",
)  # fmt: skip


def fuzzed(examples: int) -> settings:
    """So many examples, or as many as the environment says."""
    number = int(os.environ.get("CUDA_GYM_FUZZ_EXAMPLES", examples))
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    return settings(max_examples=number, deadline=None, suppress_health_check=checks, database=None)


@cache
def real_kernels() -> tuple[str, ...]:
    """The CUDA C++ of all solutions."""
    return tuple(_files(".cu"))


@cache
def real_models() -> tuple[str, ...]:
    """The `model_new.py` of all solutions."""
    return tuple(_files(".py"))


def broken(texts: tuple[str, ...], *, python: bool = False) -> st.SearchStrategy[str]:
    """A real text after a few accidents, of which each may touch any place."""
    pieces = st.sampled_from(_PYTHON if python else _CUDA) | st.text(max_size=5)
    accident = st.tuples(
        st.sampled_from(("insert", "delete", "double", "move", "cut")),
        st.integers(0, 10_000),
        st.integers(1, 80),
        pieces,
    )
    return st.builds(_after, st.sampled_from(texts), st.lists(accident, max_size=6))


def _files(ending: str) -> list[str]:
    return [
        text
        for task_id in solved_tasks()
        for path, text in load_solution(task_id).items()
        if path.endswith(ending)
    ]


def _after(text: str, accidents: list[tuple[str, int, int, Any]]) -> str:
    for what, place, length, piece in accidents:
        start = place % (len(text) + 1)
        taken = text[start : start + length]
        if what == "insert":
            text = text[:start] + piece + text[start:]
        elif what == "delete":
            text = text[:start] + text[start + length :]
        elif what == "double":
            text = text[:start] + taken + text[start:]
        elif what == "move":
            text = taken + text[:start] + text[start + length :]
        else:
            text = text[:start]
    return text
