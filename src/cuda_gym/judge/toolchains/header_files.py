"""The headers among the files of a submission, and which of them an `#include` names.

Covered: headers in quotes, by their name or by the end of their path. Not covered: names that macros make.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["HEADER_SUFFIXES", "headers_of", "included_header"]

HEADER_SUFFIXES = (".cuh", ".h", ".hpp", ".hh", ".inl", ".inc")
_MOST_READ = 2_000_000
"""Characters, which are read in two or three seconds."""
_INCLUDE = re.compile(r'\s*#\s*include\s*"(?:\.\.?/)*([^"\n]+)"')


def headers_of(files: Mapping[str, str]) -> dict[str, str]:
    """The headers of some files, by path; none where each of many sources might read very much.

    >>> headers_of({"kernels/a.cu": "", "kernels/b.cuh": "int x;"})
    {'kernels/b.cuh': 'int x;'}
    """
    headers = {path: text for path, text in files.items() if path.endswith(HEADER_SUFFIXES)}
    num_sources = sum(path.endswith(".cu") for path in files)
    return headers if sum(map(len, headers.values())) * num_sources <= _MOST_READ else {}


def included_header(directive: str, headers: Iterable[str]) -> str | None:
    """The path of the header that a directive includes; None where there is none.

    >>> included_header('#include "types.h"', ["kernels/other.h", "kernels/types.h"])
    'kernels/types.h'
    """
    match = _INCLUDE.match(directive)
    ending = f"/{match[1]}" if match else ""
    return next((path for path in headers if ending and f"/{path}".endswith(ending)), None)
