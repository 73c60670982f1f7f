"""Which functions of a file have C names: those that are `extern "C"` where they are defined, or declared.

    extern "C" void scale(float* out, int n, cudaStream_t stream);
    void scale(float* out, int n, cudaStream_t stream) { ... }

Covered: `extern "C"` in front of a function, and around several. Not covered: functions in namespaces, of
which only the declaration is `extern "C"`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cuda_gym.judge.toolchains.cuda_tokens import (
    Token,
    after_group,
    definitions,
    extern_c_heads,
)

__all__ = ["c_heads"]


def c_heads(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """What stands before the body of each function with a C name."""
    seen: set[int] = set()
    for head in extern_c_heads(tokens):
        seen.update(map(id, head))
        yield head
    declared = {_name(head) for head in _declared(tokens)} - {""}
    for definition in definitions(tokens) if declared else ():
        is_new = seen.isdisjoint(map(id, definition.head))
        if is_new and not definition.scopes and _name(definition.head) in declared:
            yield definition.head


def _declared(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Each function that is declared `extern "C"`, without its semicolon."""
    at = 0
    while at < len(tokens) - 2:
        if (tokens[at].text, tokens[at + 1].text) != ("extern", '"C"'):
            at += 1
        elif tokens[at + 2].text == "{":
            start, at = at + 3, after_group(tokens, at + 2)
            yield from _statements(tokens[start : at - 1])
        else:
            start = at = at + 2
            while at < len(tokens) and tokens[at].text not in (";", "{"):
                at = after_group(tokens, at)
            yield from _statements(tokens[start : at + 1])


def _statements(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """What ends in a semicolon; what has a body is left out."""
    start = at = 0
    while at < len(tokens):
        text = tokens[at].text
        at = after_group(tokens, at)
        if text == ";":
            yield tokens[start : at - 1]
        if text in (";", "{"):
            start = at


def _name(head: Sequence[Token]) -> str:
    """The word in front of the first parenthesis; empty where there is none."""
    words = [token.text for token in head]
    at = words.index("(") if "(" in words else 0
    return words[at - 1] if at else ""
