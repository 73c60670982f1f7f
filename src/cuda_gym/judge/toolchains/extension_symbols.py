"""The functions that a compiled module expects of others, by name.

Covered: names of C, and of C++ without their arguments; functions that a submission declares and nobody
defines, which otherwise would fail only where Python imports the module. Not covered: templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerSymSection
from elftools.elf.sections import SymbolTableSection

from cuda_gym.core.findings import Diagnostic, Severity

__all__ = ["open_symbols", "qualified_name", "undefined_functions"]

_COMPONENT = re.compile(r"(\d+)")
_OF_LIBRARIES = re.compile(
    r"_?Py|TH|cu[A-Z]|cuda|cublas|cudnn|cusparse|cusolver|cufft|curand|nccl|nvrtc"
)


def open_symbols(path: Path) -> Iterator[tuple[str, bool]]:
    """Each symbol that a library expects of others, and whether it is known of which one."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        versions = elf.get_section_by_name(".gnu.version")
        table = elf.get_section_by_name(".dynsym")
        if not isinstance(table, SymbolTableSection):
            return
        for number, symbol in enumerate(table.iter_symbols()):
            if symbol["st_shndx"] == "SHN_UNDEF" and symbol.name:
                versioned = isinstance(versions, GNUVerSymSection) and isinstance(
                    versions.get_symbol(number)["ndx"], int
                )
                yield symbol.name, versioned


def qualified_name(symbol: str) -> str:
    """The name of a function, with its namespaces and without its arguments.

    >>> qualified_name("_ZN2at4cuda2mmERKNS_6TensorE"), qualified_name("_Z5scalef"), qualified_name("f")
    ('at::cuda::mm', 'scale', 'f')
    """
    if not symbol.startswith("_Z"):
        return symbol
    parts = []
    at = 3 if symbol.startswith("_ZN") else 2
    while at < len(symbol) and (found := _COMPONENT.match(symbol, at)):
        start = found.end()
        at = start + int(found[1])
        parts.append(symbol[start:at])
        if not symbol.startswith("_ZN"):
            break
    return "::".join(parts)


def undefined_functions(library: Path, files: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """The functions that sources declare or call, and that neither they nor any library defines.

    Args:
        library: What was linked of them.
        files: The sources.
    """
    found = []
    for symbol, versioned in open_symbols(library):
        name = qualified_name(symbol)
        if versioned or not name or "::" in name or _OF_LIBRARIES.match(name):
            continue
        called = re.compile(rf"\b{re.escape(name)}\s*\(")
        for path, text in files.items():
            if place := called.search(text):
                found.append(
                    Diagnostic(
                        severity=Severity.ERROR,
                        message=f"{name} is declared but never defined: write it in a .cu source, under the "
                        'same name, with the same arguments and extern "C" in both places or in none',
                        file=path,
                        line=text.count("\n", 0, place.start()) + 1,
                    )
                )
                break
    return tuple(found)
