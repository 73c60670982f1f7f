"""Kernels that still print: good while looking for a bug, slow afterwards.

Covered: `printf` in kernels and device functions of `.cu` files, one warning for each of these. Not
covered: what macros hide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.judge.toolchains.cuda_declarations import Kind, declarations
from cuda_gym.judge.toolchains.cuda_source import Source

__all__ = ["print_warnings"]

_MOST = 3
_PRINTF = re.compile(r"\bprintf\s*\(")


def print_warnings(files: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """The first `printf` of each function on the device that has one.

    >>> source = '__global__ void k(int* x) { printf("%d", *x); }'
    >>> print(*print_warnings({"kernels/a.cu": source}))
    kernels/a.cu:1:29: warning: printf in a kernel is slow: take it out before profile
    """
    found = []
    for source in (Source(path, files[path]) for path in sorted(files) if path.endswith(".cu")):
        for declaration in declarations(source):
            on_device = declaration.is_kernel or declaration.has("__device__")
            if declaration.kind is not Kind.FUNCTION or not on_device:
                continue
            if match := _PRINTF.search(source.masked, declaration.body or 0, declaration.end):
                found.append(
                    Diagnostic(
                        severity=Severity.WARNING,
                        message="printf in a kernel is slow: take it out before profile",
                        file=source.path,
                        line=source.line(match.start()),
                        column=source.column(match.start()),
                    )
                )
    return tuple(found[:_MOST])
