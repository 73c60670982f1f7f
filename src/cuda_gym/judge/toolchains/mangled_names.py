"""The name of a kernel out of the symbol that a C++ compiler makes of it.

Covered: the names of functions in namespaces, their template arguments that are numbers or plain
types. Not covered: parameters, which a kernel's name is told without, operators, and arguments that
refer to earlier parts of the symbol; those become `...`.
"""

from __future__ import annotations

import re

__all__ = ["plain_name"]

_LENGTH = re.compile(r"\d+")
_LITERAL = re.compile(r"L(?P<type>[a-z])(?P<sign>n?)(?P<digits>\d+)E")
_TYPES = {
    "a": "signed char", "b": "bool", "c": "char", "d": "double", "f": "float", "h": "unsigned char",
    "i": "int", "j": "unsigned", "l": "long", "m": "unsigned long", "s": "short",
    "t": "unsigned short", "v": "void", "x": "long long", "y": "unsigned long long",
}  # fmt: skip
_AROUND = {"P": "{}*", "R": "{}&", "K": "const {}"}
_HIDDEN = ("_GLOBAL__N_", "_INTERNAL_")
"""How a compiler names what is visible in one file only."""


def plain_name(symbol: str) -> str:
    """The name as the source has it, without parameters; the symbol itself where it cannot be read.

    >>> plain_name("_Z5tilesILi128EEvPfPKfi"), plain_name("_ZN2ns5localEPfPKfi"), plain_name("plain")
    ('tiles<128>', 'ns::local', 'plain')
    """
    if not symbol.startswith("_Z"):
        return symbol
    try:
        return _Reader(symbol, 2).function()
    except _Unreadable:
        return symbol


class _Unreadable(Exception):
    """The symbol has a part that is not covered."""


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self._at = at

    def function(self) -> str:
        """A plain or a nested name."""
        if not self._takes("N"):
            return self._component()
        parts = []
        while not self._takes("E"):
            parts.append(self._component())
        return "::".join(part for part in parts if part)

    def _component(self) -> str:
        self._takes("L")  # internal linkage
        name = self._source_name()
        if name.startswith(_HIDDEN):
            return ""
        return f"{name}<{self._arguments()}>" if self._takes("I") else name

    def _source_name(self) -> str:
        found = _LENGTH.match(self._text, self._at)
        if found is None:
            raise _Unreadable
        end = found.end() + int(found[0])
        name, self._at = self._text[found.end() : end], end
        return name

    def _arguments(self) -> str:
        """Template arguments up to their end; what cannot be read ends the list."""
        said: list[str] = []
        while not self._takes("E"):
            try:
                said.append(self._argument())
            except _Unreadable:
                self._skip()
                said.append("...")
                break
        return ", ".join(said)

    def _argument(self) -> str:
        if found := _LITERAL.match(self._text, self._at):
            self._at = found.end()
            if found["type"] == "b":
                return "true" if found["digits"] == "1" else "false"
            return f"{'-' if found['sign'] else ''}{found['digits']}"
        letter = self._text[self._at : self._at + 1]
        if letter in _AROUND:
            self._at += 1
            return _AROUND[letter].format(self._argument())
        if letter in _TYPES:
            self._at += 1
            return _TYPES[letter]
        return self.function()

    def _skip(self) -> None:
        """To the end of the symbol: what follows is not part of a name that could be told."""
        self._at = len(self._text)
        self._text += "E" * 8

    def _takes(self, letter: str) -> bool:
        if self._at >= len(self._text):
            raise _Unreadable
        is_next = self._text[self._at] == letter
        self._at += is_next
        return is_next
