"""The headers among the files of a submission, and which of them an `#include` names.

Covered: headers in quotes, by their name or by the end of their path. Not covered: names that macros make.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["HEADER_SUFFIXES", "headers_of", "included_header"]

HEADER_SUFFIXES = (".cuh", ".h", ".hpp", ".hh", ".inl", ".inc")
_INCLUDE = re.compile(r'\s*#\s*include\s*"(?:\./)*([^"\n]+)"')


def headers_of(files: Mapping[str, str]) -> dict[str, str]:
    """The headers of some files, by path.

    >>> headers_of({"kernels/a.cu": "", "kernels/b.cuh": "int x;"})
    {'kernels/b.cuh': 'int x;'}
    """
    return {path: text for path, text in files.items() if path.endswith(HEADER_SUFFIXES)}


def included_header(directive: str, headers: Iterable[str]) -> str | None:
    """The path of the header that a directive includes; None where there is none.

    >>> included_header('#include "types.h"', ["kernels/other.h", "kernels/types.h"])
    'kernels/types.h'
    """
    match = _INCLUDE.match(directive)
    ending = f"/{match[1]}" if match else ""
    return next((path for path in headers if ending and f"/{path}".endswith(ending)), None)
