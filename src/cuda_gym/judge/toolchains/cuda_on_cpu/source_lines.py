"""Which line of which source a place in a built library comes from.

Read from the debug information, through whatever was inlined there: an `atomicAdd` of a kernel is code
of a header, and a line of the kernel.

Covered: builds of GCC and clang with `-g1` and DWARF 4. Not covered: libraries without debug
information; every place of theirs is unknown.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile

__all__ = ["SourceLine", "SourceLines"]


class SourceLine(NamedTuple):
    """A line of a file."""

    file: str
    """As the compiler was told it: a path inside the workspace, or an absolute one."""
    line: int
    """From 1."""


class _Row(NamedTuple):
    address: int
    line: SourceLine | None
    """None behind the end of a sequence."""


class _Unit(NamedTuple):
    top: Any
    """The entry of the compile unit."""
    rows: list[_Row]
    files: dict[int, str]


_SCOPES = ("DW_TAG_namespace", "DW_TAG_structure_type", "DW_TAG_class_type")
_FOLLOWED = ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine", "DW_TAG_lexical_block")


class SourceLines:
    """The lines of one library."""

    def __init__(self, library: Path) -> None:
        self._library = library

    def chain(self, place: int) -> tuple[SourceLine, ...]:
        """Where a place comes from, innermost first: its line, then each call inlined around it.

        Args:
            place: Bytes from the start of the loaded library.
        """
        try:
            return tuple(self._chain(place + self._first_address))
        except (DWARFError, ELFError, KeyError, IndexError, ValueError):
            return ()

    def _chain(self, place: int) -> Iterator[SourceLine]:
        for unit in self._units:
            at = bisect_right(unit.rows, place, key=lambda row: row.address) - 1
            row = unit.rows[at].line if at >= 0 else None
            if row is None:
                continue
            yield row
            # Of a function into which nothing was inlined clang leaves out the entry.
            for call in self._inlined(unit.top, place) or ():
                attributes = call.attributes
                file = unit.files[attributes["DW_AT_call_file"].value]
                yield SourceLine(file, attributes["DW_AT_call_line"].value)
            return

    def _inlined(self, entry: Any, place: int) -> list[Any] | None:
        """The inlined calls around a place below an entry, innermost first; None where it is not in one."""
        for child in entry.iter_children():
            if child.tag in _SCOPES and (inside := self._inlined(child, place)) is not None:
                return inside
            if child.tag in _FOLLOWED and self._holds(child, place):
                inner = self._inlined(child, place) or []
                return [*inner, child] if child.tag == "DW_TAG_inlined_subroutine" else inner
        return None

    def _holds(self, entry: Any, place: int) -> bool:
        attributes = entry.attributes
        if "DW_AT_ranges" in attributes:
            base = entry.cu.get_top_DIE().attributes.get("DW_AT_low_pc")
            start = base.value if base else 0
            for piece in self._ranges.get_range_list_at_offset(attributes["DW_AT_ranges"].value):
                if isinstance(piece, BaseAddressEntry):
                    start = piece.base_address
                elif start + piece.begin_offset <= place < start + piece.end_offset:
                    return True
            return False
        if "DW_AT_low_pc" not in attributes or "DW_AT_high_pc" not in attributes:
            return False
        low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        size = high.value if high.form != "DW_FORM_addr" else high.value - low
        return bool(low <= place < low + size)

    @cached_property
    def _elf(self) -> Any:
        return ELFFile(io.BytesIO(self._library.read_bytes()))

    @cached_property
    def _first_address(self) -> int:
        """Where it wants to be loaded: 0, but for a program that is not independent of its place."""
        loaded = (s for s in self._elf.iter_segments() if s["p_type"] == "PT_LOAD")
        return min(int(segment["p_vaddr"]) for segment in loaded)

    @cached_property
    def _dwarf(self) -> Any:
        return self._elf.get_dwarf_info() if self._elf.has_dwarf_info() else None

    @cached_property
    def _ranges(self) -> Any:
        return self._dwarf.range_lists()

    @cached_property
    def _units(self) -> list[_Unit]:
        if self._dwarf is None:
            return []
        return [unit for unit in map(self._unit, self._dwarf.iter_CUs()) if unit is not None]

    def _unit(self, unit: Any) -> _Unit | None:
        program = self._dwarf.line_program_for_CU(unit)
        if program is None:
            return None
        folders = [name.decode("utf-8", "replace") for name in program["include_directory"]]
        files = {}
        for number, entry in enumerate(program["file_entry"], start=1):
            name = entry.name.decode("utf-8", "replace")
            files[number] = f"{folders[entry.dir_index - 1]}/{name}" if entry.dir_index else name
        states = [entry.state for entry in program.get_entries() if entry.state is not None]
        rows = [
            _Row(s.address, None if s.end_sequence else SourceLine(files[s.file], s.line))
            for s in states
        ]
        return _Unit(unit.get_top_DIE(), sorted(rows, key=lambda row: row.address), files)
