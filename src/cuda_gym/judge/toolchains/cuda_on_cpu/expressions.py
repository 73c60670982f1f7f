"""What an expression depends on, judged by its tokens.

An expression that is not wholly understood has no reading; its reader then takes it for one that
differs from thread to thread and may do anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from cuda_gym.judge.toolchains.cuda_on_cpu.statements import Token
from cuda_gym.judge.toolchains.cuda_on_cpu.surroundings import Surroundings
from cuda_gym.judge.toolchains.cuda_on_cpu.variables import ARITHMETIC

__all__ = ["Reading", "read"]

V = TypeVar("V")

_SIGNS = frozenset(
    ("+", "-", "*", "/", "%", "(", ")", ",", "?", ":", "<", ">", "<=", ">=", "==", "!=", "&&", "||",
     "!", "~", "&", "|", "^", "<<", ">>", ".", "::", "[", "]", "->")
)  # fmt: skip
_OF_THE_BLOCK = frozenset(("blockIdx", "blockDim", "gridDim", "warpSize"))
_KNOWN = ARITHMETIC | frozenset(
    ("const", "void", "sizeof", "static_cast", "reinterpret_cast", "const_cast", "true", "false",
     "nullptr", "NULL", "std", "min", "max", "abs", "fminf", "fmaxf", "umin", "umax", "INFINITY",
     "NAN", "FLT_MAX", "FLT_MIN", "DBL_MAX", "INT_MAX", "INT_MIN", "UINT_MAX", "M_PI",
     "CUDART_INF_F", "CUDART_PI_F", "float2", "float3", "float4", "int2", "int4", "uint2", "uint4",
     "half", "half2", "__half", "__half2", "__nv_bfloat16", "__nv_bfloat162")
)  # fmt: skip
_FUNCTIONS = frozenset(("min", "max", "abs", "fminf", "fmaxf", "umin", "umax", "sizeof"))
_LONGEST_CHAIN = 8


@dataclass(frozen=True, kw_only=True)
class Reading(Generic[V]):
    """What the value of an expression without side effects comes from."""

    variables: frozenset[V]
    """Local variables and parameters."""
    of_thread: bool = False
    """Whether `threadIdx` itself is in it."""
    reads_memory: bool = False
    divides: bool = False
    """Whether it may divide by zero."""


def read(
    tokens: Sequence[Token],
    scope: Mapping[str, V],
    around: Surroundings,
    *,
    constants: frozenset[str] = frozenset(),
    depth: int = 0,
) -> Reading[V] | None:
    """How an expression gets its value; None where that is not understood or it changes something.

    Args:
        tokens: The expression.
        scope: Local variables and parameters by name.
        around: The other names.
        constants: More names of constants: template parameters.
        depth: How many macros this is inside of.
    """
    expression = _Expression(tokens, scope, around, constants, depth)
    if not all(map(expression.take, range(len(tokens)))):
        return None
    return expression.reading


class _Expression(Generic[V]):
    """A reading in the making."""

    def __init__(
        self,
        tokens: Sequence[Token],
        scope: Mapping[str, V],
        around: Surroundings,
        constants: frozenset[str],
        depth: int,
    ) -> None:
        self._tokens = tokens
        self._scope = scope
        self._around = around
        self._constants = constants
        self._depth = depth
        self.reading: Reading[V] = Reading(variables=frozenset())

    def take(self, at: int) -> bool:
        """Add what one token says; false where it is not understood."""
        token, following = self._tokens[at], self._text(at + 1)
        if not token.is_name:
            return self._take_sign(at)
        if self._text(at - 1) in (".", "->"):
            return following != "("
        if token.text == "threadIdx":
            self.reading = replace(self.reading, of_thread=True)
            return True
        if token.text in self._scope:
            variables = self.reading.variables | {self._scope[token.text]}
            self.reading = replace(self.reading, variables=variables)
            return following != "("
        if token.text in self._around.macros:
            return self._take_macro(token.text)
        if following == "(":
            return token.text in _FUNCTIONS | ARITHMETIC
        return token.text in _OF_THE_BLOCK | _KNOWN | self._around.constants | self._constants

    def _take_sign(self, at: int) -> bool:
        text, following = self._tokens[at].text, self._text(at + 1)
        if not (text in _SIGNS or text[0].isdigit() or text[0] == "."):
            return False
        is_unary = at == 0 or not _ends_operand(self._tokens[at - 1])
        if text == "&" and is_unary:
            return False
        is_star = text == "*" and (is_unary or _is_behind_cast(self._tokens, at, self._scope))
        self.reading = replace(
            self.reading,
            reads_memory=self.reading.reads_memory
            or text in ("[", "->")
            or (is_star and following != ")"),
            divides=self.reading.divides or (text in ("/", "%") and not _is_nonzero(following)),
        )
        return True

    def _take_macro(self, name: str) -> bool:
        macro = self._around.macros[name]
        if not macro.is_expression or self._depth > _LONGEST_CHAIN:
            return False
        known = self._constants | macro.parameters
        visible = {local: v for local, v in self._scope.items() if local not in macro.parameters}
        inner = read(macro.body, visible, self._around, constants=known, depth=self._depth + 1)
        if inner is None:
            return False
        self.reading = Reading(
            variables=self.reading.variables | inner.variables,
            of_thread=self.reading.of_thread or inner.of_thread,
            reads_memory=self.reading.reads_memory or inner.reads_memory,
            divides=self.reading.divides or inner.divides,
        )
        return True

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""


def _is_behind_cast(tokens: Sequence[Token], at: int, scope: Mapping[str, V]) -> bool:
    """Whether `(type)` stands in front of a sign."""
    if at == 0 or tokens[at - 1].text != ")":
        return False
    depth = 0
    for start in range(at - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(tokens[start].text, 0)
        if depth == 0:
            inside = tokens[start + 1 : at - 1]
            return not any(t.text in scope or t.text[0].isdigit() or t.text == "." for t in inside)
    return False


def _ends_operand(token: Token) -> bool:
    if token.text in (")", "]"):
        return True
    return (token.is_name and token.text != "return") or token.text[0].isdigit()


def _is_nonzero(text: str) -> bool:
    return text[:1].isdigit() and text.rstrip("uUlLfF").strip("0.x") != ""
