"""What the library of a submission's kernels may ask of others, by the symbols that its linker left open.

Covered: look-ups by name, machine code that is brought along, other processes, sockets, threads, and libraries
that compute and that the task does not allow; no spelling hides them, be it a weak declaration, a pasted token
or a label. Not covered: system calls made by hand, which the walls around a candidate answer, what CUDA's
runtime looks up in the driver (`cuda_runtime_library/entry_points.cpp`), and modules with bindings of their own
(`extension_rules`).
"""

from __future__ import annotations

import re
from pathlib import Path

from cuda_gym.errors import Refused
from cuda_gym.judge.toolchains.extension_rules import vendor_call
from cuda_gym.judge.toolchains.extension_symbols import open_symbols
from cuda_gym.judge.toolchains.reaching_symbols import reaching_out

__all__ = ["require_own_work", "symbol_fault"]

_HOST_LIBRARY = re.compile(r"cblas_\w+|mkl_\w+|dnnl_\w+|[sdcz]gem[mv]_")


def require_own_work(library: Path, allowed: tuple[str, ...]) -> None:
    """See to it that a library of kernels and launchers gets by with CUDA, C and C++.

    Args:
        library: What the linker made.
        allowed: The calls of `cuda_extension.library` that the task allows.

    Raises:
        Refused: it asks others for more, with the symbols.
    """
    symbols = {symbol for symbol, _ in open_symbols(library)}
    found = sorted(fact for symbol in symbols if (fact := symbol_fault(symbol, allowed)))
    if found:
        more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
        raise Refused(
            f"The compiled launchers call {'; '.join(found[:3])}{more}. Let a kernel do the work, and remove "
            "that call."
        )


def symbol_fault(symbol: str, allowed: tuple[str, ...]) -> str | None:
    """What is wrong with a symbol, in words; None where a kernel may need it.

    >>> symbol_fault("dlsym", ())
    'dlsym, which looks up what the judge did not compile'
    >>> symbol_fault("cublasSgemm_v2", ("gemm",)) is None, symbol_fault("expf", ()) is None
    (True, True)
    """
    if reason := reaching_out(symbol):
        return reason
    if vendor_call(symbol, allowed) or (not allowed and _HOST_LIBRARY.fullmatch(symbol)):
        return f"{symbol}, which computes outside of your kernels"
    return None
