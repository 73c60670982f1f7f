"""What every toolchain does around its compiler: look a build up or make it, and say why there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from cuda_gym.core.findings import Build, Diagnostic, KernelResources, Severity
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.build_cache import BuildCache, digest

__all__ = ["LIBRARY_NAME", "find_or_build", "own_version", "read_diagnostics", "refusal"]

LIBRARY_NAME = "kernels.so"
"""The library in the entry of a build."""

Entry = tuple[Path, Mapping[str, Any]]
"""The folder of a build in the cache, and its facts: `kernels` and `diagnostics`."""


def find_or_build(
    cache: BuildCache, key: str, compile_it: Callable[[], Entry], *, toolchain: str
) -> Build:
    """The build of a key; compiled where the cache has none.

    Args:
        cache: Where it may lie.
        key: Of everything that decides the result.
        compile_it: Compiles and publishes it; what it raises passes through.
        toolchain: Name and version of what compiles.
    """
    started = time.monotonic()
    found = cache.find(key)
    entry, facts = found or compile_it()
    return Build(
        key=key,
        library=str(entry / LIBRARY_NAME),
        toolchain=toolchain,
        build_s=time.monotonic() - started,
        cached=found is not None,
        kernels=tuple(KernelResources(**kernel) for kernel in facts["kernels"]),
        diagnostics=read_diagnostics(facts["diagnostics"]),
    )


@lru_cache
def own_version() -> str:
    """Content hash of the toolchains for GPUs: what a build tells of its kernels is their doing."""
    paths = sorted(Path(__file__).parent.glob("*.py"))
    return digest(*(part for path in paths for part in (path.name, path.read_text("utf-8"))))


def read_diagnostics(plain: Iterable[Mapping[str, Any]]) -> tuple[Diagnostic, ...]:
    """Diagnostics out of what `as_plain` has made of them."""
    return tuple(Diagnostic(**{**d, "severity": Severity(d["severity"])}) for d in plain)


def refusal(said: str, diagnostics: tuple[Diagnostic, ...], folder: Path) -> CompileError:
    """The error of a compiler that has failed.

    Args:
        said: All that it printed.
        diagnostics: What was understood of it.
        folder: Where it ran; left out of what is told.
    """
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    if not errors:
        told = said.replace(str(folder), "").strip()[-400:] or "it said nothing"
        fact = f"The compiler failed without an error in the sources: {told}"
        return CompileError(fact, diagnostics)
    more = f" ({len(errors)} errors in all)" if len(errors) > 1 else ""
    return CompileError(f"{errors[0]}{more}", diagnostics)
