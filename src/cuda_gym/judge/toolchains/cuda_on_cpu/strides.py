"""Loops in which the threads of a block walk over an array side by side.

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) ...

Thread by thread such a loop jumps; taken together, the threads of one round touch neighbours. So the
rounds become the outer loop, and the threads the inner one, which the compiler vectorises.

Covered: one comparison with < or <= as the condition, a start that is smallest for the first thread,
a step that is the same for all. Not covered: bodies with loops, or with jumps out of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cuda_gym.judge.toolchains.cuda_on_cpu.plan import Node, Variable
from cuda_gym.judge.toolchains.cuda_on_cpu.statements import Form, Statement, Token, split
from cuda_gym.judge.toolchains.cuda_on_cpu.uniformity import Uniformity
from cuda_gym.judge.toolchains.cuda_on_cpu.variables import ARITHMETIC, declared, text_of

__all__ = ["Stride", "stride_of"]

_INDICES = frozenset(("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"))
_MEMBERS = frozenset("xyz")
_WHOLE = ARITHMETIC - {"bool", "char", "short", "float", "double", "int8_t", "uint8_t", "int16_t",
                       "uint16_t", "uchar", "ushort"}  # fmt: skip
_BUSY = (Form.FOR, Form.WHILE, Form.DO, Form.SWITCH, Form.RETURN, Form.BREAK, Form.CONTINUE)


@dataclass(frozen=True, kw_only=True)
class Stride:
    """One such loop, its parts as C++."""

    variable: str
    type: str
    start: str
    condition: str
    step: str
    body: Statement
    head: Sequence[Token]


def stride_of(node: Node, uniformity: Uniformity) -> Stride | None:
    """The loop that a statement is; None where it is no such loop."""
    statement = node.statement
    if statement.form is not Form.FOR or node.is_split:
        return None
    pieces = split(statement.head, ";")
    body = statement.parts[0]
    if len(pieces) != 3 or not pieces[0] or any(s.form in _BUSY for s in body.walk()):
        return None
    variables = declared([*pieces[0], pieces[0][-1]])
    if len(variables) != 1 or variables[0].is_braced:
        return None
    counter, first = variables[0], variables[0].initial
    is_whole = bool(counter.words) and counter.words <= _WHOLE and not counter.is_pointer
    if (
        first is None
        or not is_whole
        or counter.is_reference
        or counter.dimensions
        or _changes(body, counter.name)
    ):
        return None
    step = _step(pieces[2], counter.name)
    if step is None or not uniformity.is_uniform_value(step, node):
        return None
    if not _is_bounded(pieces[1], counter.name, node, uniformity):
        return None
    if not _grows_with_the_thread(first, node, uniformity):
        return None
    return Stride(
        variable=counter.name,
        type=counter.type,
        start=text_of(first),
        condition=text_of(pieces[1]),
        step=text_of(step),
        body=body,
        head=statement.head,
    )


def _changes(body: Statement, name: str) -> bool:
    """Whether the counter is used as more than a value."""
    texts = [token.text for token in body.tokens]
    signs = {"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "++", "--"}
    return any(
        text == name
        and ({*texts[at + 1 : at + 2]} & signs or {*texts[max(at - 1, 0) : at]} & {"++", "--", "&"})
        for at, text in enumerate(texts)
    )


def _step(tokens: Sequence[Token], name: str) -> Sequence[Token] | None:
    texts = [token.text for token in tokens]
    if texts[:2] == [name, "+="]:
        return tokens[2:]
    if texts[:4] == [name, "=", name, "+"]:
        return tokens[4:]
    return None


def _is_bounded(tokens: Sequence[Token], name: str, node: Node, uniformity: Uniformity) -> bool:
    if len(tokens) < 3 or tokens[0].text != name or tokens[1].text not in ("<", "<="):
        return False
    limit = tokens[2:]
    if any(
        t.text in ("&&", "||", "?", ",", "==", "!=", "<", ">", "<=", ">=", "&", "|", "^")
        for t in limit
    ):
        return False
    reading = uniformity.read(limit, node)
    is_steady = reading is not None and not reading.reads_memory
    return is_steady and uniformity.is_uniform_value(limit, node)


def _grows_with_the_thread(tokens: Sequence[Token], node: Node, uniformity: Uniformity) -> bool:
    """Whether no thread starts before the first one: a sum in which threadIdx only adds."""
    sees_thread = False
    for term in split(tokens, "+"):
        reading = uniformity.read(term, node)
        if reading is None or reading.reads_memory or reading.divides:
            return False
        if reading.of_thread or not all(map(uniformity.is_uniform, reading.variables)):
            sees_thread = True
            if not all(_only_adds(term, at, node, uniformity) for at in range(len(term))):
                return False
        elif any(
            not uniformity.never_changes(v) and _is_inside(v, node) for v in reading.variables
        ):
            return False
    return sees_thread


def _only_adds(term: Sequence[Token], at: int, node: Node, uniformity: Uniformity) -> bool:
    token = term[at]
    text = token.text
    if not token.is_name:
        return text in ("+", "*", "(", ")", ".") or re.fullmatch(r"\d+[uUlL]*", text) is not None
    if text in _INDICES | _WHOLE or (text in _MEMBERS and at and term[at - 1].text == "."):
        return True
    variable = node.scope.get(text)
    return variable is not None and _is_derived_and_adds(variable, uniformity)


def _is_derived_and_adds(variable: Variable, uniformity: Uniformity) -> bool:
    declaration = variable.declared
    if declaration is None or declaration.initial is None or variable.node is None:
        return False
    if uniformity.is_uniform(variable):
        return False
    if not uniformity.is_derived(variable) or not declaration.words & (_WHOLE | {"auto"}):
        return False
    return all(
        _only_adds(declaration.initial, at, variable.node, uniformity)
        for at in range(len(declaration.initial))
    )


def _is_inside(variable: Variable, node: Node) -> bool:
    return variable.node is node
