"""CUDA C++ as text: comments and literals out of sight, brackets matched, edits that keep the lines.

Covered: raw strings, digit separators, continued lines, any text at all (nothing here raises). Not
covered: trigraphs; brackets that only match after the preprocessor has run are matched as written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["IDENTIFIER", "Edits", "Rewritten", "Source", "blanked", "closing", "without_directives"]

IDENTIFIER = r"[A-Za-z_]\w*"

_TOKEN = re.compile(
    r"""
      (?P<comment> // (?:\\\r?\n|[^\n])* | /\* .*? (?:\*/|\Z) )
    | (?<!\w)(?:u8|[uUL])?R"(?P<delimiter>[^\s()\\"]{0,16})\( .*? (?:\)(?P=delimiter)"|\Z)
    | "(?:\\.|[^"\\\n])*"?
    | (?<![\w.]) \.?\d (?:[eEpP][+-]|'\w|[\w.])*
    | \w+
    | '(?:\\.|[^'\\\n])*'?
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*\#(?:\\\r?\n|[^\n])*", re.MULTILINE)
_TORN_OPENING = re.compile(r"<(?:[ \t]+<[ \t]*<|<[ \t]+<)")
_TORN_CLOSING = re.compile(r">(?:[ \t]+>[ \t]*>|>[ \t]+>)(?=\s*\()")
_BRACKET = re.compile(r"[()\[\]{}]")
_CLOSER = {"(": ")", "[": "]", "{": "}"}


def _blank(match: re.Match[str]) -> str:
    text = match.group()
    if match.group("comment"):
        return re.sub(r"[^\n]", " ", text)
    quote = text.find('"') if '"' in text else text.find("'")
    if quote < 0 or text[0].isdigit() or text[0] == ".":
        return text
    inside = re.sub(r"[^\n]", " ", text[quote + 1 : -1])
    return text[: quote + 1] + inside + (text[-1] if len(text) > quote + 1 else "")


@dataclass(frozen=True)
class Source:
    """One file of a submission."""

    path: str
    """As the agent knows it: `kernels/softmax.cu`."""
    text: str

    @cached_property
    def masked(self) -> str:
        """The text with comments and the insides of literals blanked; offsets and lines agree.

        The brackets of a launch that a formatter has torn apart (`k << <1, 2 >> > (x)`) stand
        together, so that every reader knows them by one spelling.
        """
        blank = _TOKEN.sub(_blank, self.text)
        joined = _TORN_OPENING.sub(lambda match: match.group().replace("<", "") + "<<<", blank)
        return _TORN_CLOSING.sub(lambda match: ">>>" + match.group().replace(">", ""), joined)

    @cached_property
    def code(self) -> str:
        """The masked text without preprocessor directives."""
        return without_directives(self.masked)

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of each line."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line(self, offset: int) -> int:
        """The line that an offset lies in, from 1."""
        return bisect_right(self.line_starts, offset)

    def column(self, offset: int) -> int:
        """The column of an offset, from 1."""
        return offset - self.line_starts[self.line(offset) - 1] + 1


def without_directives(masked: str) -> str:
    """Masked text with preprocessor directives blanked, offsets kept."""
    return _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), masked)


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Text with some ranges, in order and apart from each other, turned to spaces; lines are kept."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        parts += (text[position:start], re.sub(r"[^\n]", " ", text[start:end]))
        position = end
    return "".join((*parts, text[position:]))


def closing(masked: str, opening: int) -> int:
    """Offset of the bracket that closes the one at `opening`; the end of the text where none does.

    >>> closing("f(a, (b))[0]", 1)
    8
    """
    opener = masked[opening]
    closer = _CLOSER[opener]
    depth = 0
    for match in _BRACKET.finditer(masked, opening):
        if match.group() == opener:
            depth += 1
        elif match.group() == closer:
            depth -= 1
            if depth == 0:
                return match.start()
    return len(masked)


@dataclass(frozen=True, kw_only=True)
class Rewritten:
    """A file after its edits: the same lines, other columns."""

    source: Source
    text: str
    pieces: tuple[tuple[int, int, bool], ...]
    """(offset in the new text, offset in the old one, whether it was kept) of each piece."""

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def original_column(self, line: int, byte_column: int) -> int:
        """The column of the agent's text for a compiler's column in bytes.

        Inserted text has the column of what it stands for.
        """
        starts = self._line_starts
        if not 1 <= line <= len(starts):
            return byte_column
        start = starts[line - 1]
        end = starts[line] if line < len(starts) else len(self.text)
        prefix = self.text[start:end].encode("utf-8", "replace")[: max(byte_column - 1, 0)]
        offset = start + len(prefix.decode("utf-8", "ignore"))
        at = bisect_right(self.pieces, offset, key=lambda piece: piece[0]) - 1
        new, old, is_kept = self.pieces[at]
        original = old + (offset - new if is_kept else 0)
        if self.source.line(original) != line and at + 1 < len(self.pieces):
            original = self.pieces[at + 1][1]
        return self.source.column(original) if self.source.line(original) == line else 1


@dataclass
class Edits:
    """Insertions and replacements in one file, collected in any order."""

    source: Source
    _edits: list[tuple[int, int, str, int]] = field(default_factory=list)

    def insert(self, offset: int, text: str) -> None:
        """Insert before the character at an offset."""
        self._edits.append((offset, offset, text, offset))

    def replace(self, start: int, end: int, text: str, *, stands_for: int | None = None) -> None:
        """Replace a range; the lines it spanned are kept.

        Args:
            start: Offset of the first character.
            end: Offset behind the last one.
            text: What comes instead.
            stands_for: Where an error in the new text is told; at the start of the range by default.
        """
        lines = self.source.text.count("\n", start, end) - text.count("\n")
        place = start if stands_for is None else stands_for
        self._edits.append((start, end, text + "\n" * lines, place))

    def apply(self) -> Rewritten:
        """The file with all edits; where two overlap the later one is dropped."""
        text = self.source.text
        parts: list[str] = []
        pieces: list[tuple[int, int, bool]] = []
        length = position = 0
        for start, end, new, place in sorted(self._edits, key=lambda edit: edit[:2]):
            if start < position:
                continue
            pieces.append((length, position, True))
            length += start - position
            pieces.append((length, place, False))
            parts += (text[position:start], new)
            length += len(new)
            position = end
        pieces.append((length, position, True))
        parts.append(text[position:])
        return Rewritten(source=self.source, text="".join(parts), pieces=tuple(pieces))
