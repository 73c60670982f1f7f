"""What a statement declares and what it may change, judged by its tokens.

Both answers err to the safe side: a statement that is not clearly a declaration with known parts is
refused, and a variable counts as changed where it only might be (bound to a reference, handed to a
function that takes one, its address taken).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cuda_gym.judge.toolchains.cuda_on_cpu.statements import NotUnderstood, Token, split

__all__ = ["ARITHMETIC", "Change", "Declared", "changed", "declared", "text_of"]

ARITHMETIC = frozenset(
    ("bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "size_t",
     "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
     "ptrdiff_t", "uint", "uchar", "ushort", "ulong")
)  # fmt: skip
"""Words that make up the names of numbers' types."""

_WORDS = ARITHMETIC | {"void"}
_STORAGE = frozenset(("static", "volatile", "register", "extern", "thread_local", "__shared__"))
_ASSIGNING = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_STEPPING = frozenset(("++", "--"))


@dataclass(frozen=True, kw_only=True, eq=False)
class Declared:
    """One variable of a declaration."""

    name: str
    type: str
    """As C++ spells it for a variable that may be assigned to, without what stands behind the name."""
    words: frozenset[str]
    """Those of the type in front of the name."""
    is_constant: bool
    is_reference: bool
    is_pointer: bool
    dimensions: str
    """`[4][4]` of an array, else nothing."""
    initial: Sequence[Token] | None
    """Its value; None where it has none."""
    start: int
    """Offset of its name."""
    end: int
    """Offset behind its value."""
    is_braced: bool = False
    """Whether the value stands in braces or parentheses instead of behind an equals sign."""

    @property
    def is_shared(self) -> bool:
        """Whether it belongs to the block."""
        return "__shared__" in self.words


def text_of(tokens: Sequence[Token]) -> str:
    """Tokens as C++ on one line.

    >>> from cuda_gym.judge.toolchains.cuda_on_cpu.statements import tokens_of
    >>> text_of(tokens_of("a+ b [1]", 0, 8))
    'a + b [ 1 ]'

    Raises:
        NotUnderstood: literals are among them, whose text is not known.
    """
    if any(token.text[0] in "'\"" for token in tokens):
        raise NotUnderstood("a literal")
    return " ".join(token.text for token in tokens)


def declared(tokens: Sequence[Token]) -> list[Declared]:
    """The variables that a simple statement declares; none where it is an expression.

    Raises:
        NotUnderstood: it may be a declaration, of a shape not known here.
    """
    at, words = _type(tokens)
    if at == 0 or not _begins_declarator(tokens, at):
        _refuse_hidden_declarators(tokens)
        return []
    base = [token.text for token in tokens[:at]]
    return [_one(base, words, piece) for piece in split(tokens[at:-1], ",")]


def _type(tokens: Sequence[Token]) -> tuple[int, frozenset[str]]:
    """How many tokens the type takes, and its words; 0 where there is none."""
    at, has_core, is_open = 0, False, False
    while at < len(tokens):
        text = tokens[at].text
        if text in ("const", "constexpr", "typename") or text in _STORAGE:
            at += 1
        elif text in ("alignas", "__align__") and tokens[at + 1].text == "(":
            at = next(i for i in range(at, len(tokens)) if tokens[i].text == ")") + 1
        elif text in _WORDS and (not has_core or is_open):
            has_core = is_open = True
            at += 1
        elif tokens[at].is_name and not has_core:
            at = _qualified(tokens, at)
            has_core = True
        else:
            break
    return (at if has_core else 0), frozenset(token.text for token in tokens[:at])


def _qualified(tokens: Sequence[Token], at: int) -> int:
    """Behind a name with its `::` and template arguments."""
    while True:
        at += 1
        if at < len(tokens) and tokens[at].text == "<":
            at = _behind_angle(tokens, at)
        if at + 1 >= len(tokens) or tokens[at].text != "::":
            return at
        at += 1


def _behind_angle(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for end in range(at, len(tokens)):
        text = tokens[end].text
        depth += {"<": 1, ">": -1, ">>": -2}.get(text, 0)
        if depth <= 0:
            return end + 1
        if not (tokens[end].is_name or text[0].isdigit() or text in ("<", ",", "::", "*", "&")):
            break
    return at


def _begins_declarator(tokens: Sequence[Token], at: int) -> bool:
    while at < len(tokens) and tokens[at].text in ("*", "&", "&&", "const", "__restrict__"):
        at += 1
    return at < len(tokens) and tokens[at].is_name


def _refuse_hidden_declarators(tokens: Sequence[Token]) -> None:
    """`T (*p)[4] = ...` looks like a call; so does a macro that declares something."""
    for number, token in enumerate(tokens[:-1]):
        if token.text == "(" and number and tokens[number + 1].text in ("*", "&"):
            texts = [t.text for t in tokens[number + 2 : number + 5]]
            if (
                tokens[0].is_name
                and number <= 2
                and texts[1:2] == [")"]
                and texts[2:] in (["["], ["("])
            ):
                raise NotUnderstood("a pointer to an array or a function")


def _one(base: Sequence[str], words: frozenset[str], piece: Sequence[Token]) -> Declared:
    at, stars = 0, []
    while at < len(piece) and not (
        piece[at].is_name and piece[at].text not in ("const", "__restrict__")
    ):
        stars.append(piece[at].text)
        at += 1
    if at >= len(piece) or any(s not in ("*", "&", "&&", "const", "__restrict__") for s in stars):
        raise NotUnderstood("a declaration without a name")
    name, rest = piece[at], piece[at + 1 :]
    dimensions: list[str] = []
    while rest and rest[0].text == "[":
        end = next((i for i, t in enumerate(rest) if t.text == "]"), None)
        if end is None:
            raise NotUnderstood("brackets that do not match")
        dimensions += [token.text for token in rest[: end + 1]]
        rest = rest[end + 1 :]
    if rest and rest[0].text not in ("=", "(", "{"):
        raise NotUnderstood("a declaration of unknown shape")
    is_pointer = "*" in stars
    plain = [word for word in base if word not in _STORAGE and word != "constexpr"]
    if not is_pointer:
        plain = [word for word in plain if word != "const"]
    is_constant = ("const" in stars) if is_pointer else bool({"const", "constexpr"} & words)
    return Declared(
        name=name.text,
        type=" ".join((*plain, *(s for s in stars if s == "*"))),
        words=words,
        is_constant=is_constant,
        is_reference="&" in stars or "&&" in stars,
        is_pointer=is_pointer,
        dimensions="".join(dimensions),
        initial=(rest[1:] if rest[0].text == "=" else rest[1:-1]) if rest else None,
        start=name.start,
        end=piece[-1].end,
        is_braced=bool(rest) and rest[0].text != "=",
    )


class Change(NamedTuple):
    """A variable that may be changed."""

    name: str
    takes_address: bool
    """Whether it may also be changed later, through a pointer or a reference."""
    is_element: bool
    """Whether that happens to an element: of a pointer's array, the pointer then stays the same."""


def changed(tokens: Sequence[Token], takes_references: Callable[[str], bool]) -> Iterator[Change]:
    """What a statement, or any part of one, may change.

    Args:
        tokens: Those of the statement.
        takes_references: Whether a function of this name may change its arguments; "." is a member.
    """
    callees: list[str | None] = []
    for number, token in enumerate(tokens):
        if token.text in ("(", "[", "{"):
            callees.append(_callee(tokens, number) if token.text == "(" else None)
        elif token.text in (")", "]", "}") and callees:
            callees.pop()
        elif token.is_name and _text(tokens, number - 1) not in (".", "->", "::"):
            callee = callees[-1] if callees else None
            change = _change(tokens, number, callee is not None and takes_references(callee))
            if change is not None:
                yield change


def _change(tokens: Sequence[Token], at: int, is_handed_over: bool) -> Change | None:
    """What happens to the name at a place; it may be an argument of what takes references."""
    name = tokens[at].text
    before, behind = at - 1, _behind_members(tokens, at)
    while _text(tokens, before) == "(" and _text(tokens, behind) == ")":
        if _callee(tokens, before) is not None:
            break
        before, behind = before - 1, behind + 1
    last, following = _text(tokens, before), _text(tokens, behind)
    is_unary = not _is_operand(tokens, before - 1)
    is_pointee = last == "*" and is_unary and following in _ASSIGNING
    is_element = is_pointee or _text(tokens, at + 1) == "["
    if following in _ASSIGNING | _STEPPING or last in _STEPPING:
        return Change(name, False, is_element)
    # A member function, or the variable itself called.
    is_called = following == "(" and (behind == at + 1 or tokens[behind - 2].text == ".")
    is_cast_to_reference = last == ")" and _text(tokens, before - 1) in ("&", "&&")
    if is_called or is_cast_to_reference:
        return Change(name, True, False)
    is_argument = last in ("(", ",") and following in (")", ",") and is_handed_over
    if is_argument or (last == "&" and is_unary):
        return Change(name, True, is_element)
    return None


def _text(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text if 0 <= at < len(tokens) else ""


def _is_operand(tokens: Sequence[Token], at: int) -> bool:
    """Whether a sign behind this place is a binary one."""
    if not 0 <= at < len(tokens) or tokens[at].text == "return":
        return False
    return tokens[at].is_name or tokens[at].text[0].isdigit() or tokens[at].text in (")", "]")


def _behind_members(tokens: Sequence[Token], at: int) -> int:
    """Behind a name with its members and indices: what is done to these is done to it."""
    at += 1
    while at < len(tokens):
        if tokens[at].text == "." and at + 1 < len(tokens):
            at += 2
        elif tokens[at].text == "[":
            depth = 0
            while at < len(tokens):
                depth += {"[": 1, "]": -1}.get(tokens[at].text, 0)
                at += 1
                if depth == 0:
                    break
        else:
            break
    return at


def _callee(tokens: Sequence[Token], opening: int) -> str | None:
    """The function called with an opening parenthesis; None where it is no call."""
    at = opening - 1
    if _text(tokens, at) == ">":
        depth = 0
        if _text(tokens, at - 1) in ("&", "&&"):
            return "."
        while at >= 0:
            depth += {">": 1, ">>": 2, "<": -1}.get(tokens[at].text, 0)
            at -= 1
            if depth == 0:
                break
    if (
        at < 0
        or not tokens[at].is_name
        or tokens[at].text in ("return", "if", "while", "for", "switch")
    ):
        return None
    return tokens[at].text if _text(tokens, at - 1) not in (".", "->") else "."
