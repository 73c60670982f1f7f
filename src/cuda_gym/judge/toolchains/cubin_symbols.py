"""The symbols of the kernels in machine code of a GPU, by the names that the source has.

Covered: namespaces, unnamed ones too, and internal linkage. Not covered: overloads and templates: of
several kernels with one name none is told.
"""

from __future__ import annotations

import io
import struct
from collections import defaultdict

from elftools.elf.elffile import ELFFile

from cuda_gym.judge.toolchains.mangled_names import plain_name

__all__ = ["kernel_symbols"]

_SYMBOL = struct.Struct("<IBBHQQ")
"""Name, info, other, section, value and size, as ELF has them for 64 bits."""
_FUNCTION = 2
_IS_ENTRY = 0x10
"""In the byte that ELF calls `other`: the function is a kernel."""


def kernel_symbols(cubin: bytes) -> dict[str, str]:
    """The symbol of each kernel by its name without namespaces."""
    file = ELFFile(io.BytesIO(cubin))
    table, strings = map(file.get_section_by_name, (".symtab", ".strtab"))
    if table is None or strings is None:
        return {}
    names = strings.data()
    found: dict[str, list[str]] = defaultdict(list)
    for name, info, other, _section, _value, _size in _SYMBOL.iter_unpack(table.data()):
        if info & 0xF == _FUNCTION and other & _IS_ENTRY:
            symbol = names[name : names.index(b"\0", name)].decode()
            found[plain_name(symbol).rpartition("::")[2]].append(symbol)
    return {name: symbols[0] for name, symbols in found.items() if len(symbols) == 1}
