"""The body of a kernel as a tree of statements, read without a C++ front end.

Covered: declarations, expressions, blocks, if, for, while, do, switch, return, break and continue.
Not covered, and said so by `NotUnderstood`: labels and goto, lambdas, local classes, try, directives
other than #pragma. What is inside an expression stays a row of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, unique
from typing import NamedTuple

__all__ = [
    "Form",
    "NotUnderstood",
    "Statement",
    "Token",
    "behind",
    "read_block",
    "split",
    "tokens_of",
]


class NotUnderstood(Exception):
    """The text has something that its reader does not know; the kernel is then left as it is."""


class Token(NamedTuple):
    """A word, a number, a literal or a sign."""

    text: str
    start: int
    end: int

    @property
    def is_name(self) -> bool:
        """Whether it is an identifier or a keyword."""
        return self.text[0].isalpha() or self.text[0] == "_"


@unique
class Form(Enum):
    """The kind of a statement."""

    SIMPLE = "simple"
    """A declaration or an expression."""
    BLOCK = "block"
    IF = "if"
    FOR = "for"
    WHILE = "while"
    DO = "do"
    SWITCH = "switch"
    RETURN = "return"
    BREAK = "break"
    CONTINUE = "continue"


@dataclass(frozen=True, kw_only=True, eq=False)
class Statement:
    """One statement with all that is in it."""

    form: Form
    start: int
    """Offset of its first character."""
    end: int
    """Offset behind its last one."""
    tokens: Sequence[Token]
    """All of it."""
    head: Sequence[Token] = ()
    """What stands in the parentheses behind its keyword."""
    parts: Sequence[Statement] = ()
    """The statements directly inside; for an if, what is done and what is done else."""

    def walk(self) -> Iterator[Statement]:
        """It and every statement inside."""
        yield self
        for part in self.parts:
            yield from part.walk()


_TOKEN = re.compile(
    r"""
      [A-Za-z_]\w*
    | \.?\d (?: [eEpP][+-] | '\w | [\w.] )*
    | "[^"]*" | '[^']*'
    | <<= | >>= | -> | :: | \+\+ | -- | && | \|\| | [-+*/%&|^=!<>]= | << | >>
    | \S
    """,
    re.VERBOSE,
)
_CLOSER = {"(": ")", "[": "]", "{": "}"}
_HEADED = {"if": Form.IF, "for": Form.FOR, "while": Form.WHILE, "switch": Form.SWITCH}
_JUMPS = {"return": Form.RETURN, "break": Form.BREAK, "continue": Form.CONTINUE}
_UNKNOWN = frozenset(
    (
        "goto",
        "asm",
        "__asm__",
        "try",
        "catch",
        "throw",
        "co_await",
        "co_yield",
        "co_return",
        "delete",
    )
)
_CLASSES = frozenset(("struct", "class", "union", "enum"))


def tokens_of(code: str, start: int, end: int) -> list[Token]:
    """The tokens of a range of masked text."""
    return [Token(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(code, start, end)]


def split(tokens: Sequence[Token], separator: str) -> list[Sequence[Token]]:
    """The pieces between separators outside brackets; angle brackets are no brackets here.

    >>> [len(piece) for piece in split(tokens_of("f(a, b), c", 0, 10), ",")]
    [6, 1]
    """
    pieces, first, at = [], 0, 0
    while at < len(tokens):
        if tokens[at].text == separator:
            pieces.append(tokens[first:at])
            first = at + 1
        at = behind(tokens, at)
    return [*pieces, tokens[first:]]


def read_block(code: str, start: int, end: int) -> list[Statement]:
    """The statements of a body, given the offsets behind its opening brace and of its closing one.

    Raises:
        NotUnderstood: for what is not covered.
    """
    tokens = tokens_of(code, start, end)
    _refuse_unknown(tokens)
    return _Reader(tokens).statements(0, len(tokens))


def _refuse_unknown(tokens: Sequence[Token]) -> None:
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else None
        if token.text in _UNKNOWN or token.text in _CLASSES or token.text == "#":
            raise NotUnderstood(token.text)
        # Square brackets that are no index: a lambda or an attribute.
        is_index = before is not None and (before.text in (")", "]") or _is_value(before))
        if token.text == "[" and not is_index:
            raise NotUnderstood("a lambda or an attribute")


def _is_value(token: Token) -> bool:
    return token.is_name and token.text not in ("return", "else", "do", "case")


def behind(tokens: Sequence[Token], at: int) -> int:
    """The place behind a token, or behind the bracket that closes it."""
    closer = _CLOSER.get(tokens[at].text)
    if closer is None:
        return at + 1
    depth = 0
    for end in range(at, len(tokens)):
        if tokens[end].text in _CLOSER:
            depth += 1
        elif tokens[end].text in _CLOSER.values():
            depth -= 1
            if depth == 0 and tokens[end].text == closer:
                return end + 1
            if depth == 0:
                break
    raise NotUnderstood("brackets that do not match")


class _Reader:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens

    def statements(self, at: int, end: int) -> list[Statement]:
        found = []
        while at < end:
            statement, at = self._statement(at)
            found.append(statement)
        if at != end:
            raise NotUnderstood("a statement that ends outside of its block")
        return found

    def _statement(self, at: int) -> tuple[Statement, int]:
        if at >= len(self._tokens):
            raise NotUnderstood("a statement is missing")
        word = self._tokens[at].text
        if word == "{":
            end = behind(self._tokens, at)
            return self._made(Form.BLOCK, at, end, parts=self.statements(at + 1, end - 1))
        if word in _HEADED:
            return self._headed(_HEADED[word], at)
        if word == "do":
            return self._do(at)
        if word in ("else", "case", "default", "}", ")", "]"):
            raise NotUnderstood(word)
        return self._simple(at)

    def _headed(self, form: Form, at: int) -> tuple[Statement, int]:
        opening = at + 1
        if self._text(opening) == "constexpr":
            opening += 1
        if self._text(opening) != "(":
            raise NotUnderstood(f"{form.value} without its parentheses")
        closing = behind(self._tokens, opening)
        head = self._tokens[opening + 1 : closing - 1]
        if form is Form.SWITCH:
            # Its labels are of no interest: it is kept whole.
            if self._text(closing) != "{":
                raise NotUnderstood("switch without a block")
            return self._made(form, at, behind(self._tokens, closing), head=head)
        part, end = self._statement(closing)
        parts = [part]
        if form is Form.IF and self._text(end) == "else":
            part, end = self._statement(end + 1)
            parts.append(part)
        return self._made(form, at, end, head=head, parts=parts)

    def _do(self, at: int) -> tuple[Statement, int]:
        part, end = self._statement(at + 1)
        if self._text(end) != "while" or self._text(end + 1) != "(":
            raise NotUnderstood("do without while")
        closing = behind(self._tokens, end + 1)
        if self._text(closing) != ";":
            raise NotUnderstood("do without its semicolon")
        head = self._tokens[end + 2 : closing - 1]
        return self._made(Form.DO, at, closing + 1, head=head, parts=[part])

    def _simple(self, at: int) -> tuple[Statement, int]:
        end = at
        while self._text(end) != ";":
            if end >= len(self._tokens) or self._text(end) in _CLOSER.values():
                raise NotUnderstood("a statement without its semicolon")
            if end > at and self._tokens[end].text in (*_HEADED, *_JUMPS, "do", "else"):
                raise NotUnderstood("a macro that stands for a statement")
            end = behind(self._tokens, end)
        if self._text(at + 1) == ":" and self._tokens[at].is_name:
            raise NotUnderstood("a label")
        return self._made(_JUMPS.get(self._tokens[at].text, Form.SIMPLE), at, end + 1)

    def _text(self, at: int) -> str:
        return self._tokens[at].text if at < len(self._tokens) else ""

    def _made(
        self,
        form: Form,
        at: int,
        end: int,
        *,
        head: Sequence[Token] = (),
        parts: Sequence[Statement] = (),
    ) -> tuple[Statement, int]:
        tokens = self._tokens[at:end]
        made = Statement(
            form=form,
            start=tokens[0].start,
            end=tokens[-1].end,
            tokens=tokens,
            head=head,
            parts=parts,
        )
        return made, end
