"""Do the calls of `model_new.py` fit the kernels that were compiled?

Covered: names of `cuda_extension` that do not exist, the number of arguments, arguments by keyword,
kernels by a plain string, and a model that calls none of its kernels. All are warnings: a line that is
never run does no harm.

Not covered: what is reached in another way (a computed name, a table of launchers), and types, which only a
run knows.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.errors import did_you_mean
from cuda_gym.judge.verification.python_names import Use, full_name, imported_names, used_names

__all__ = ["Signature", "call_warnings"]

_MODEL = "model_new.py"
_EXTENSION = "cuda_extension"
_OTHERS = ("kernel", "library")


@dataclass(frozen=True, kw_only=True)
class Signature:
    """A launcher or a kernel, as far as its calls can be checked."""

    num_arguments: int
    """That Python passes."""
    signature: str
    """How it is called."""
    problem: str = ""
    """Why it cannot be called at all."""


def call_warnings(
    source: str, launchers: Mapping[str, Signature], kernels: Mapping[str, Signature]
) -> tuple[Diagnostic, ...]:
    """Where `model_new.py` calls what is not there, or not as it is.

    Args:
        source: Its text.
        launchers: What `cuda_extension` has, by name.
        kernels: What `cuda_extension.kernel` knows, by name.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # '\d' in a string of the agent's is not our warning
        tree = ast.parse(source, _MODEL)
    imported = imported_names(tree)
    optional = _asked_with_default(tree, imported)
    uses = [
        use
        for use in used_names(tree, imported)
        if use.is_below(_EXTENSION) and use.name not in optional
    ]
    found = [*_unknown_names(uses, launchers, kernels)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found += _faults(node, imported, launchers, kernels)
    if not uses and _EXTENSION not in source:
        example = next(iter(launchers.values()), next(iter(kernels.values()), None))
        what = f"{_EXTENSION}.{example.signature}" if example else "a kernel"
        found.append((1, f"nothing of kernels/ is called; import {_EXTENSION} and call {what}"))
    return tuple(
        Diagnostic(severity=Severity.WARNING, message=message, file=_MODEL, line=line)
        for line, message in sorted(set(found))
    )


def _asked_with_default(tree: ast.Module, imported: Mapping[str, Use]) -> set[str]:
    """Names that may be missing: `getattr(cuda_extension, "scale_half", None)`."""
    return {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and len(node.args) == 3
        and (name := full_name(node, imported))
    }


def _unknown_names(
    uses: list[Use], launchers: Mapping[str, Signature], kernels: Mapping[str, Signature]
) -> Iterator[tuple[int, str]]:
    known = [*launchers, *_OTHERS]
    for use in uses:
        name = use.name.removeprefix(_EXTENSION).removeprefix(".").partition(".")[0]
        if not name or name in known or name.startswith("__"):
            continue
        fact = f"{_EXTENSION} has no {name!r}"
        if name in kernels:
            call = f"call {_EXTENSION}.{kernels[name].signature}, or write a launcher"
            yield use.line, f"{fact}: it is a kernel; {call}"
        else:
            yield use.line, f"{fact}.{did_you_mean(name, launchers)} It has: {', '.join(known)}"


def _faults(
    call: ast.Call,
    imported: Mapping[str, Use],
    launchers: Mapping[str, Signature],
    kernels: Mapping[str, Signature],
) -> Iterator[tuple[int, str]]:
    """What is wrong with one call."""
    name = full_name(call.func, imported) or ""
    launcher = launchers.get(name.removeprefix(f"{_EXTENSION}."))
    if name.startswith(f"{_EXTENSION}.") and launcher is not None:
        yield from _misfits(call, launcher)
    if (asked := _kernel_name(call, imported)) is not None:
        kernel = kernels.get(asked)
        if kernel is None:
            there = ", ".join(kernels) or "none"
            hint = did_you_mean(asked, kernels)
            yield call.lineno, f"no __global__ function {asked!r}.{hint} There are: {there}"
        elif kernel.problem:
            yield call.lineno, f"kernel {asked!r} cannot be launched from Python: {kernel.problem}"
    if isinstance(call.func, ast.Subscript) and isinstance(call.func.value, ast.Call):
        kernel = kernels.get(_kernel_name(call.func.value, imported) or "")
        if kernel is not None and not kernel.problem:
            yield from _misfits(call, kernel)


def _misfits(call: ast.Call, function: Signature) -> Iterator[tuple[int, str]]:
    if call.keywords:
        yield call.lineno, f"arguments are passed by position: {function.signature}"
    elif not any(isinstance(argument, ast.Starred) for argument in call.args):
        given, wanted = len(call.args), function.num_arguments
        if given != wanted:
            stream = "; the stream is filled in" if given > wanted else ""
            fact = f"takes {wanted} arguments, got {given}"
            yield call.lineno, f"{fact}: {function.signature}{stream}"


def _kernel_name(call: ast.Call, imported: Mapping[str, Use]) -> str | None:
    """What `cuda_extension.kernel("name")` asks for, where it is a plain string."""
    match call.args:
        case [ast.Constant(value=str(name))]:
            is_kernel = full_name(call.func, imported) == f"{_EXTENSION}.kernel"
            return name if is_kernel else None
    return None
