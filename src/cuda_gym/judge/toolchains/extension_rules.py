"""What holds for submissions that bring bindings, and for no others.

    on cpu        there is nothing that such a module could be compiled for
    sources       those of a load_inline are read like files under kernels/
    symbols       what the compiled module asks other libraries for

Covered: operators of torch that are called past its dispatcher, where the operator rule would not see
them, and libraries of NVIDIA that the task does not allow; by the symbols that the linker left open, so
no spelling hides them. Not covered: symbols that are looked up while it runs.
"""

from __future__ import annotations

import re
from pathlib import Path

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.core.task import Submission
from cuda_gym.errors import Refused, UnsupportedOnDevice
from cuda_gym.judge.toolchains.extension_symbols import open_symbols, qualified_name
from cuda_gym.judge.toolchains.extension_units import binding_place
from cuda_gym.judge.toolchains.inline_sources import find_inline_extensions
from cuda_gym.judge.toolchains.reaching_symbols import reaching_out
from cuda_gym.judge.toolchains.torch_files import find_torch

__all__ = ["inline_texts", "require_no_bindings", "require_own_kernels", "vendor_call"]

_VENDORS = {
    "cublas": ("gemm", "bmm"),
    "cudnn": ("conv",),
    **dict.fromkeys(("cusparse", "cusolver", "cufft", "curand", "nccl", "nvrtc"), ()),
}
"""Beginnings of symbols, and the calls of `cuda_extension.library` that allow them."""
_PAST_DISPATCHER = (
    "at::native::",
    "at::cpu::",
    "at::meta::",
    "at::cuda::blas::",
    "at::redispatch::",
)


def require_no_bindings(submission: Submission) -> None:
    """See to it that a submission can be compiled for the host.

    Raises:
        UnsupportedOnDevice: it makes its own Python module, with the place.
    """
    found = binding_place(submission)
    if found is None:
        return
    message = (
        "bindings for torch need a GPU, and are not available on the cpu device; call the launchers of "
        'kernels/*.cu through cuda_extension instead: every extern "C" function is one'
    )
    place = Diagnostic(severity=Severity.ERROR, message=message, file=found[0], line=found[1])
    raise UnsupportedOnDevice(str(place), (place,))


def inline_texts(source: str) -> dict[str, str]:
    """The sources that a model gives to load_inline, under names of files.

    Raises:
        CompileError: they cannot be found without running it.
    """
    texts = {}
    for call in find_inline_extensions(source):
        for suffix, pieces in (("cpp", call.cpp), ("cu", call.cuda)):
            texts[f"{call.name}.{suffix}"] = "\n".join(piece.text for piece in pieces)
    return texts


def require_own_kernels(library: Path, allowed: tuple[str, ...]) -> None:
    """See to it that the modules of a build compute with their own kernels.

    Args:
        library: One module; those beside it belong to the same build.
        allowed: The calls of `cuda_extension.library` that the task allows.

    Raises:
        Refused: they call what the task does not allow, or what reaches out of them.
    """
    operators = find_torch().include_folders[0] / "ATen" / "ops"
    symbols = {symbol for path in library.parent.glob("*.so") for symbol, _ in open_symbols(path)}
    if reaching := sorted(fact for symbol in symbols if (fact := reaching_out(symbol))):
        raise Refused(
            f"The bindings call {'; '.join(reaching[:3])}. Let a kernel do the work, and remove that call."
        )
    found = sorted(fact for symbol in symbols if (fact := _fault(symbol, allowed, operators)))
    if found:
        more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
        raise Refused(
            f"The bindings call {', '.join(found[:3])}{more}, which computes outside of your kernels. Write "
            "it as a kernel in a .cu source. (Rule: other compute libraries.)"
        )


def vendor_call(symbol: str, allowed: tuple[str, ...]) -> str | None:
    """The symbol of a library of NVIDIA; empty where the task allows that, None where it is of no such library."""
    for vendor, calls in _VENDORS.items():
        if symbol.startswith(vendor) and re.fullmatch(rf"{vendor}[A-Z]\w*|{vendor}_\w+", symbol):
            # Handles and descriptors compute nothing, and are no use without what does.
            return "" if set(calls) & set(allowed) else symbol
    return None


def _fault(symbol: str, allowed: tuple[str, ...], operators: Path) -> str | None:
    """What is wrong with a symbol, in words; None where it may be called."""
    if (called := vendor_call(symbol, allowed)) is not None:
        return called or None
    name = qualified_name(symbol)
    if name.startswith(_PAST_DISPATCHER):
        if name.startswith("at::cuda::blas::") and set(_VENDORS["cublas"]) & set(allowed):
            return None
        return name
    last = name.removeprefix("at::cuda::")
    is_operator = last != name and "::" not in last and (operators / f"{last}.h").is_file()
    return name if is_operator else None
