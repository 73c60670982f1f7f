"""CUDA C++ as a stream of tokens, read the way a compiler would as far as signatures need it.

Covered: comments, strings, raw strings, digit separators and continued lines; object-like macros;
conditionals, where an undefined name counts as undefined, as in C; headers that are given.

Not covered: other `#include`d text, function-like macros (they stay as written), and arithmetic in
`#if`, which counts as true. Any text gives tokens; none raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cuda_gym.judge.toolchains.header_files import included_header

__all__ = [
    "Definition",
    "Token",
    "after_group",
    "definitions",
    "extern_c_heads",
    "read_tokens",
    "split_at_commas",
    "without_attributes",
]


class Token(NamedTuple):
    """One word, number, string or sign."""

    text: str
    """As written, a string with its quotes."""
    line: int
    """From 1; where it came from a macro, the line of the macro's use."""


class Definition(NamedTuple):
    """Something with a body at namespace scope: a function, most of all."""

    scopes: tuple[str, ...]
    """The named namespaces around it, the outermost first."""
    head: Sequence[Token]
    """What stands before the body."""
    body: Sequence[Token]
    """With its braces, the closing one where there is one."""


def read_tokens(text: str, headers: Mapping[str, str] | None = None) -> list[Token]:
    r"""The tokens of the branches that a compiler would see, with macros replaced.

    Args:
        text: Of a source file.
        headers: Texts by path. What the file includes of them is read at its place, once, and has its line.

    >>> [token.text for token in read_tokens("#define T float\nT* x; // T")]
    ['float', '*', 'x', ';']
    """
    return list(_read(text, dict.fromkeys(_PREDEFINED), dict(headers or {})))


def extern_c_heads(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """What stands before each body that is `extern "C"`."""
    at, blocks = 0, 0
    while at < len(tokens):
        if _matches(tokens, at, "extern", '"C"', "{"):
            at, blocks = at + 3, blocks + 1
            continue
        if _matches(tokens, at, "extern", '"C"'):
            start = at + 2
        elif blocks and tokens[at].text != "}":
            start = at
        else:
            at, blocks = at + 1, blocks - bool(blocks)
            continue
        at = _head_end(tokens, start)
        if _matches(tokens, at, "{") and _matches(tokens, start, "namespace"):
            at, blocks = at + 1, blocks + 1
        elif _matches(tokens, at, "{"):
            yield tokens[start:at]
            at = after_group(tokens, at)
        elif _matches(tokens, at, ";"):
            at += 1


def definitions(tokens: Sequence[Token]) -> Iterator[Definition]:
    """Whatever has a body at namespace scope, in namespaces and `extern "C"` blocks too."""
    scopes: list[tuple[str, ...]] = []
    at = 0
    while at < len(tokens):
        start, at = at, _head_end(tokens, at)
        head = tokens[start:at]
        if _matches(tokens, at, "}"):
            del scopes[-1:]
        if not _matches(tokens, at, "{"):
            at += 1
        elif (names := _namespace(head)) is not None:
            scopes.append(names)
            at += 1
        else:
            body, at = at, after_group(tokens, at)
            yield Definition(sum(scopes, ()), head, tokens[body:at])


def without_attributes(head: Sequence[Token]) -> Sequence[Token]:
    """The same without `__attribute__((...))`, `[[...]]` and their kind."""
    kept: list[Token] = []
    at = 0
    while at < len(head):
        texts = [token.text for token in head[at : at + 2]]
        if texts[0] in _WITH_ARGUMENTS and texts[1:] == ["("]:
            at = after_group(head, at + 1)
        elif texts == ["[", "["]:
            at = after_group(head, at)
        else:
            kept.append(head[at])
            at += 1
    return kept


def split_at_commas(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The pieces between commas outside brackets; none of nothing."""
    pieces: list[Sequence[Token]] = []
    start = at = 0
    while at < len(tokens):
        if tokens[at].text == ",":
            pieces.append(tokens[start:at])
            start = at = at + 1
        else:
            at = after_group(tokens, at)
    return [*pieces, tokens[start:]] if tokens else []


def after_group(tokens: Sequence[Token], at: int) -> int:
    """The place after a token, or after the closing bracket where it is an opening one."""
    opening = tokens[at].text
    closing = _CLOSING.get(opening)
    depth = 0
    for end in range(at, len(tokens)):
        text = tokens[end].text
        depth += (text == opening) - (text == closing)
        if closing is None or depth == 0:
            return end + 1
    return len(tokens)


def _namespace(head: Sequence[Token]) -> tuple[str, ...] | None:
    """The names that a head adds to those around; None where it opens no namespace."""
    words = [token.text for token in without_attributes(head)]
    if words == ["extern", '"C"']:
        return ()
    words = words[1:] if words[:1] == ["inline"] else words
    if words[:1] != ["namespace"]:
        return None
    return tuple(word for word in words[1:] if word not in ("::", "inline"))


_CLOSING: Mapping[str, str] = {"(": ")", "[": "]", "{": "}"}
_WITH_ARGUMENTS = frozenset(
    {
        "__attribute__",
        "__declspec",
        "alignas",
        "__launch_bounds__",
        "__maxnreg__",
        "__cluster_dims__",
    }
)
_Macros = dict[str, tuple[str, ...] | None]
"""Bodies by name; None for what is defined but stays as written."""
_PREDEFINED: tuple[str, ...] = ("__cplusplus", "__GNUC__", "__linux__", "__CUDACC__", "__NVCC__")
_DEEPEST_INCLUDE = 30
_LONGEST_MACRO = 32
"""Tokens; longer bodies are code, no spelling of a type, and could double with each definition."""

# A branch that could fail after a long scan also accepts the end of the text, so that no input
# makes the scan quadratic.
_PIECE = re.compile(
    r"""
      (?P<directive> ^[^\S\n]* \# (?: /\*.*?(?:\*/|\Z) | //[^\n\\]* | \\. | [^\n\\] )* )
    | (?P<skip> \n+ | [^\S\n]+ | \\\n | //(?: \\. | [^\n\\] )* | /\*.*?(?:\*/|\Z) )
    | (?P<token>
          (?:u8|[uUL])?R"(?P<fence>[^()\\\s"]{0,16})\(.*?(?:\)(?P=fence)"|\Z)
        | (?:u8|[uUL])?"(?: \\. | [^"\\\n] )*"?
        | (?:u8|[uUL])?'(?: \\. | [^'\\\n] )*'?
        | [^\W\d]\w*
        | \.?\d(?: '?[\w.] )*
        | :: | -> | \.\.\. | && | .
      )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def _read(
    text: str, macros: _Macros, headers: dict[str, str], *, depth: int = 0
) -> Iterator[Token]:
    """The tokens of a text; what it includes is taken out of the headers."""
    conditions = _Conditions(macros)
    for piece, line, is_directive in _pieces(text.replace("\r\n", "\n")):
        if not is_directive:
            words = _expanded(piece, macros) if conditions.active else ()
            yield from (Token(word, line) for word in words)
        elif headers and conditions.active and (path := included_header(piece, headers)):
            inner = headers.pop(path) if depth < _DEEPEST_INCLUDE else ""
            for token in _read(inner, macros, headers, depth=depth + 1):
                yield Token(token.text, line)
        else:
            _obey(piece, conditions, macros)


def _pieces(text: str) -> Iterator[tuple[str, int, bool]]:
    """Each directive or token with its line, and whether it is a directive."""
    line, counted = 1, 0
    for match in _PIECE.finditer(text):
        if match.lastgroup != "skip":
            line += text.count("\n", counted, match.start())
            counted = match.start()
            yield match.group(), line, match.lastgroup == "directive"


class _Conditions:
    """The stack of `#if`s."""

    def __init__(self, macros: _Macros) -> None:
        self._macros = macros
        self._levels: list[tuple[bool, bool]] = []
        """For each open `#if`: whether this branch is read, and whether one was read already."""

    @property
    def active(self) -> bool:
        """Whether the text here is seen by the compiler."""
        return all(read for read, _ in self._levels)

    def obey(self, name: str, rest: str) -> None:
        """Follow `#if`, `#ifdef`, `#ifndef`, `#elif`, `#else` or `#endif`."""
        if name.startswith("if"):
            read = self._holds(name, rest)
            self._levels.append((read, read))
        elif self._levels and name == "endif":
            self._levels.pop()
        elif self._levels and name.startswith("el"):
            _, done = self._levels.pop()
            read = not done and (name == "else" or self._holds(name.removeprefix("el"), rest))
            self._levels.append((read, done or read))

    def _holds(self, name: str, rest: str) -> bool:
        if name in ("ifdef", "ifndef"):
            return (rest.split(" ")[0] in self._macros) == (name == "ifdef")
        if defined := re.fullmatch(r"(!?)\s*defined\s*\(?\s*(\w+)\s*\)?", rest):
            return (defined[2] in self._macros) != bool(defined[1])
        return rest not in ("0", "false")


def _obey(directive: str, conditions: _Conditions, macros: _Macros) -> None:
    """Follow one directive: a conditional, or the definition of a macro."""
    plain = re.sub(r"/\*.*?(?:\*/|\Z)|//.*|\\\n", " ", directive, flags=re.DOTALL)
    match = re.match(r"\s*#\s*([a-z]+)\b\s*(.*)", plain, re.DOTALL)
    if match is None:
        return
    name, rest = match[1], match[2].strip()
    if name.startswith(("if", "el", "endif")):
        conditions.obey(name, rest)
    elif conditions.active and name == "undef":
        macros.pop(rest, None)
    elif conditions.active and name == "define":
        _define(rest, macros)


def _define(rest: str, macros: _Macros) -> None:
    """Remember `NAME body`, its body already expanded: so no macro can grow without end."""
    match = re.match(r"([^\W\d]\w*)(\(?)\s*(.*)", rest, re.DOTALL)
    if match is None:
        return
    name, is_function_like, text = match.groups()
    body = [word for piece, _, _ in _pieces(text) for word in _expanded(piece, macros)]
    stays = is_function_like or len(body) > _LONGEST_MACRO
    macros[name] = None if stays else tuple(body)


def _expanded(piece: str, macros: _Macros) -> tuple[str, ...]:
    """What a macro stands for; anything else as it is."""
    body = macros.get(piece)
    return (piece,) if body is None else body


def _head_end(tokens: Sequence[Token], at: int) -> int:
    """Where a declaration ends: at `;`, at the `{` of its body, or at a stray `}`."""
    while at < len(tokens) and tokens[at].text not in (";", "{", "}"):
        at = after_group(tokens, at)
    return at


def _matches(tokens: Sequence[Token], at: int, *texts: str) -> bool:
    """Whether the tokens from a place on are these."""
    return tuple(token.text for token in tokens[at : at + len(texts)]) == texts
