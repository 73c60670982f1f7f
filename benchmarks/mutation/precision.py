"""Faults that lose digits: values rounded on their way, and sums that are kept in float16."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.mutation.edits import Edit

from cuda_gym.judge.toolchains.cuda_source import Source

__all__ = ["PRECISION_OPERATORS"]

_ADDED_TO = re.compile(r"(?<![\w.])([A-Za-z_]\w*(?:\[[^;=]*?\])*) \+= ([^;=<>{}]+);")
_STORED = re.compile(r"\b(?:out|to|losses|tile)(?:\[[^;=]*?\])+ = ([^;=<>]+);")
_MADE = re.compile(r"\bconst float (\w+) = ([^;=<>]+);")
_INTEGERS: Final = frozenset({"i", "k", "row", "first", "step", "width"})
_HEAD: Final = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"
_ROUNDINGS: Final = (
    "__half2float(__float2half({}))",
    "__bfloat162float(__float2bfloat16({}))",
    "__int_as_float(__float_as_int({}) & 0xffffe000)",  # the digits of TF32
)


def _is_half(source: Source) -> bool:
    """Whether the task itself is in half precision, where rounding once more is no fault."""
    return "__half" in source.code or "__nv_bfloat16" in source.code


def _reduced(source: Source) -> Iterator[Edit]:
    """A value that is added, kept or stored is rounded first."""
    if _is_half(source):
        return
    places = [match.span(2) for match in _ADDED_TO.finditer(source.code) if _is_float(match)]
    places += [match.span(2) for match in _MADE.finditer(source.code)]
    places += [match.span(1) for match in _STORED.finditer(source.code) if match[1] != "0.0f"]
    for start, end in places:
        for rounding in _ROUNDINGS:
            text = rounding.format(source.text[start:end])
            yield Edit(operator="reduced precision", start=start, end=end, text=text, head=_HEAD)


def _accumulated(source: Source) -> Iterator[Edit]:
    """A sum is rounded to float16 after each step."""
    for match in _ADDED_TO.finditer(source.code):
        if _is_float(match):
            added = source.text[match.start(2) : match.end(2)]
            text = f"{match[1]} = __half2float(__float2half({match[1]} + ({added})));"
            yield Edit(
                operator="float16 accumulation",
                start=match.start(),
                end=match.end(),
                text=text,
                head=_HEAD,
            )


def _is_float(match: re.Match[str]) -> bool:
    return match[1] not in _INTEGERS and match[2] not in ("1", "LANES", "4")


PRECISION_OPERATORS: Final[tuple[Callable[[Source], Iterator[Edit]], ...]] = (
    _reduced,
    _accumulated,
)
