"""Branches that whole warps take or leave, so that all lanes of a warp meet inside of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuda_gym.judge.toolchains.cuda_on_cpu.plan import BARRIERS, Node
from cuda_gym.judge.toolchains.cuda_on_cpu.statements import NotUnderstood, Token, split
from cuda_gym.judge.toolchains.cuda_on_cpu.uniformity import Uniformity
from cuda_gym.judge.toolchains.cuda_on_cpu.variables import text_of

__all__ = ["check_whole_warps"]

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_WARP = re.compile(r"\(*threadIdx \. x\)* (?:/ (?:32[uU]?|warpSize)|>> 5[uU]?)")
_THREAD = re.compile(r"threadIdx \. x")
_DEEPEST = 4


def check_whole_warps(node: Node, uniformity: Uniformity) -> None:
    """Make sure that an `if` divides a block between warps, and that no barrier of the block is inside.

    Raises:
        NotUnderstood: it may not be so.
    """
    inside = [token.text for part in node.statement.parts for token in part.tokens]
    if any(text.startswith("__syncthreads") for text in inside):
        raise NotUnderstood("a barrier that only some threads may reach")
    if not any(text in BARRIERS or "_sync" in text for text in inside):
        raise NotUnderstood("a jump that only some threads may take")
    head = node.statement.head
    if len(head) == 2 and head[0].text == "!":
        is_whole = _is_warp(head[1:], node, uniformity)
    else:
        is_whole = any(_divides_warps(head, sign, node, uniformity) for sign in _COMPARISONS)
    if not is_whole:
        raise NotUnderstood("a branch that may divide a warp")


def _divides_warps(head: Sequence[Token], sign: str, node: Node, uniformity: Uniformity) -> bool:
    sides = split(head, sign)
    if len(sides) != 2 or not all(sides):
        return False
    left, right = sides
    if not uniformity.is_uniform_value(right, node):
        return False
    if _is_warp(left, node, uniformity):
        return True
    is_whole = re.fullmatch(r"(\d+)[uU]?", text_of(right))
    at_border = right[0].text == "warpSize" or (is_whole is not None and int(is_whole[1]) % 32 == 0)
    is_thread = _THREAD.fullmatch(_spelled_out(left, node, uniformity)) is not None
    return sign in ("<", ">=") and at_border and is_thread


def _is_warp(tokens: Sequence[Token], node: Node, uniformity: Uniformity) -> bool:
    return _WARP.fullmatch(_spelled_out(tokens, node, uniformity)) is not None


def _spelled_out(
    tokens: Sequence[Token], node: Node, uniformity: Uniformity, depth: int = 0
) -> str:
    """An expression with variables that never change replaced by what they stand for."""
    parts = []
    for token in tokens:
        variable = node.scope.get(token.text)
        if variable is not None and uniformity.is_derived(variable) and depth < _DEEPEST:
            assert variable.declared is not None
            assert variable.node is not None
            initial = variable.declared.initial or ()
            parts.append(_spelled_out(initial, variable.node, uniformity, depth + 1))
        else:
            parts.append(token.text)
    return " ".join(parts)
