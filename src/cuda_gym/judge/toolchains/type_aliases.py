"""Names that a source gives to types: `using bf16 = __nv_bfloat16;`, `typedef unsigned int u32;`.

Covered: names at namespace scope, of types that Python can pass, and of other names for them. Not covered:
pointers, templates, members of classes; a name that two scopes give to different types means neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cuda_gym.judge.toolchains.cuda_tokens import Token, after_group
from cuda_gym.judge.toolchains.cuda_types import canonical_type

__all__ = ["with_plain_types"]

_LONGEST = 32
"""Words of a statement that may give a type a name; of longer ones the end alone is kept, which names nothing."""


def with_plain_types(tokens: Sequence[Token]) -> list[Token]:
    """The same with each name for a type replaced by the type's own.

    >>> from cuda_gym.judge.toolchains.cuda_tokens import read_tokens
    >>> tokens = read_tokens("using bf16 = __nv_bfloat16; void f(bf16* x)")
    >>> " ".join(token.text for token in with_plain_types(tokens)[-6:])
    'f ( __nv_bfloat16 * x )'
    """
    types: dict[str, str | None] = {}
    for statement in _statements(tokens):
        name, words = _named(statement)
        plain = canonical_type([types.get(word) or word for word in words])
        if name and types.setdefault(name, plain) != plain:
            types[name] = None
    names = {name: plain.split() for name, plain in types.items() if plain}
    return [
        Token(word, token.line) for token in tokens for word in names.get(token.text, [token.text])
    ]


def _named(statement: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The new name and the words of its type; empty where the statement gives none."""
    match statement:
        case ["using", name, "=", *words]:
            return name, words
        case ["typedef", *words, name]:
            return name, words
    return "", ()


def _statements(tokens: Sequence[Token]) -> Iterator[list[str]]:
    """What ends in a semicolon at namespace scope."""
    words: list[str] = []
    at = 0
    while at < len(tokens):
        text = tokens[at].text
        if text == ";":
            yield words
        opens_scope = text == "{" and ("namespace" in words or words[-2:] == ["extern", '"C"'])
        if text in (";", "}") or opens_scope:
            words = []
        elif text != "{":
            words.append(text)
            if len(words) > _LONGEST:
                words = [""]
        elif "typedef" not in words:
            words = []  # behind the body of a function no semicolon has to come
        at = after_group(tokens, at) if text == "{" and not opens_scope else at + 1
