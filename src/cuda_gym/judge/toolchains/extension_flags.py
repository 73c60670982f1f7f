"""The compiler flags that a submission may choose for its own extension.

Covered: optimisation, the C++ standard, macros, fast math, registers, line numbers, and the switches of
nvcc that device code is written against. Everything else (files, libraries, folders, other
architectures, plug-ins) is left out, and said so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["allowed_flags", "standard_of"]

_SWITCHES = frozenset(
    {
        "--use_fast_math", "-use_fast_math", "-lineinfo", "--generate-line-info", "-G",
        "--expt-relaxed-constexpr", "--expt-extended-lambda", "--extended-lambda", "-extended-lambda",
        "-restrict", "--restrict", "-ffast-math", "-funroll-loops", "-fno-math-errno",
        "--extra-device-vectorization", "-extra-device-vectorization",
    }
)  # fmt: skip
_VALUED = re.compile(
    r"""
      -O[0-3]?
    | (?:--std|-std)=(?:c|gnu)\+\+(?:11|14|17|20|23)
    | -D\w+(?:=[\w.+-]*)?
    | -U\w+
    | (?:-maxrregcount|--maxrregcount)=\d+
    | (?:-ftz|--ftz|-prec-div|--prec-div|-prec-sqrt|--prec-sqrt|-fmad|--fmad)=(?:true|false)
    | (?:-diag-suppress|--diag-suppress)=[\d,]+
    | -W(?:no-)?[\w-]+
    """,
    re.VERBOSE,
)
_HARMLESS = re.compile(
    r"(?:-Xptxas=?|--ptxas-options=?)(?:-v|-O[0-3])?|-v|-O[0-3]|-Xcompiler=?(?:-fPIC)?|-fPIC|-w|"
    r"(?:-Xptxas|--ptxas-options)=-v,-O[0-3]|"
    r"(?:-arch|--gpu-architecture)=(?:sm|compute)_\d+[af]?|"
    r"-gencode=?.*|(?:arch=compute_\d+[af]?,code=.*)|"
    r"-DTORCH_EXTENSION_NAME=.*|"
)
"""What is given anyhow, or decides nothing: it need not be mentioned that it is left out."""


def allowed_flags(given: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The flags that count, and those that were left out.

    >>> allowed_flags(["-O3", "--use_fast_math", "-lcublas", ""])
    (('-O3', '--use_fast_math'), ('-lcublas',))
    """
    kept: list[str] = []
    left_out: list[str] = []
    flags = [flag.strip() for flag in given]
    number = 0
    while number < len(flags):
        flag = flags[number]
        if flag in ("-D", "-U", "-maxrregcount", "--maxrregcount", "-std", "-diag-suppress"):
            joint = "" if flag in ("-D", "-U") else "="
            flag = f"{flag}{joint}{flags[number + 1] if number + 1 < len(flags) else ''}"
            number += 1
        number += 1
        if flag in _SWITCHES or (_VALUED.fullmatch(flag) and "TORCH_EXTENSION_NAME" not in flag):
            kept.append(flag)
        elif not _HARMLESS.fullmatch(flag):
            left_out.append(flag)
    return tuple(kept), tuple(left_out)


def standard_of(flags: Iterable[str], least: int) -> tuple[str, tuple[str, ...]]:
    """The flag of the C++ standard to compile with, and the other flags.

    >>> standard_of(["-O3", "-std=c++14"], 17)
    ('-std=c++17', ('-O3',))

    Args:
        flags: What was asked for.
        least: What torch's headers need.
    """
    standards = [least]
    others = []
    for flag in flags:
        if "std=" in flag:
            standards.append(int(flag[-2:]))
        else:
            others.append(flag)
    return f"-std=c++{max(standards)}", tuple(others)
