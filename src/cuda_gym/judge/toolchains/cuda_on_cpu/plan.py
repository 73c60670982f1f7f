"""A kernel's body cut where its threads meet: what runs once a block and what runs for each thread.

A statement is *split* where something inside concerns the whole block: a barrier, a warp operation,
or a jump out of a split loop. All others are kept whole. Covered: barriers, __syncwarp, shuffles and
votes with all 32 lanes, __syncthreads_count, _and and _or. Not covered, and said so by
`NotUnderstood`: all other ways to wait.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cuda_gym.judge.toolchains.cuda_on_cpu.statements import (
    Form,
    NotUnderstood,
    Statement,
    Token,
    behind,
    split,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.surroundings import Surroundings
from cuda_gym.judge.toolchains.cuda_on_cpu.variables import Declared, declared

__all__ = ["BARRIERS", "MEETINGS", "Call", "Node", "Variable", "make_plan"]

BARRIERS = frozenset(("__syncthreads", "__syncwarp"))
MEETINGS = {
    "__shfl_sync": 3,
    "__shfl_up_sync": 3,
    "__shfl_down_sync": 3,
    "__shfl_xor_sync": 3,
    "__any_sync": 2,
    "__all_sync": 2,
    "__ballot_sync": 2,
    "__syncthreads_count": 1,
    "__syncthreads_and": 1,
    "__syncthreads_or": 1,
}
"""Operations of many threads that give a value, and the fewest arguments of each."""

_LOOPS = frozenset((Form.FOR, Form.WHILE, Form.DO))
_ALL_LANES = re.compile(
    r"0[xX][fF]{8}[uUlL]*|- 1|~ 0[uUlL]*|\( unsigned( int)? \) - 1|4294967295[uUlL]*|~ \( 0[uU]? \)"
)


@dataclass(eq=False, kw_only=True)
class Variable:
    """A parameter, or a variable declared where the whole block passes."""

    name: str
    number: int
    """Tells variables of one name apart."""
    declared: Declared | None = None
    """None for a parameter."""
    node: Node | None = None
    """Where it is declared; None for a parameter."""


@dataclass(eq=False, kw_only=True)
class Call:
    """One operation of many threads that gives a value, inside of a statement."""

    function: str
    start: int
    end: int
    arguments: Sequence[Sequence[Token]]
    """Without the mask."""


@dataclass(eq=False, kw_only=True)
class Node:
    """A statement where the whole block passes."""

    statement: Statement
    scope: Mapping[str, Variable]
    """What its names mean; its own declarations included."""
    declares: Sequence[Variable] = ()
    parts: Sequence[Sequence[Node]] = ()
    """Of a split statement: the statements of each of its branches or of its body."""
    is_split: bool = False
    calls: Sequence[Call] = ()
    enclosing: tuple[Node, ...] = ()
    """The split statements around it, from the outside in."""

    def walk(self) -> Iterator[Node]:
        """It and all inside."""
        yield self
        for part in self.parts:
            for node in part:
                yield from node.walk()

    @property
    def is_barrier(self) -> bool:
        """Whether it is nothing but a wait for others."""
        tokens = self.statement.tokens
        return self.statement.form is Form.SIMPLE and tokens[0].text in BARRIERS


def make_plan(
    body: Sequence[Statement], parameters: Sequence[str], around: Surroundings
) -> tuple[list[Node], list[Variable]]:
    """The nodes of a kernel's body, and its parameters.

    Raises:
        NotUnderstood: for what is not covered.
    """
    planner = _Planner(around)
    variables = [planner.variable(name) for name in parameters]
    scope = {variable.name: variable for variable in variables}
    return planner.nodes(body, scope, ()), variables


@dataclass
class _Planner:
    around: Surroundings
    _count: int = field(default=0)

    def variable(
        self, name: str, declared: Declared | None = None, node: Node | None = None
    ) -> Variable:
        self._count += 1
        return Variable(name=name, number=self._count, declared=declared, node=node)

    def nodes(
        self,
        statements: Sequence[Statement],
        scope: Mapping[str, Variable],
        enclosing: tuple[Node, ...],
    ) -> list[Node]:
        found = []
        for statement in statements:
            node = self._node(statement, scope, enclosing)
            scope = node.scope if statement.form is Form.SIMPLE else scope
            found.append(node)
        return found

    def _node(
        self, statement: Statement, scope: Mapping[str, Variable], enclosing: tuple[Node, ...]
    ) -> Node:
        node = Node(statement=statement, scope=scope, enclosing=enclosing)
        if statement.form is Form.SIMPLE:
            self._declare(node, statement.tokens)
            node.calls = self._calls(statement.tokens)
            if node.calls:
                _check_simple(node)
        elif _is_split(statement):
            self._split(node)
        return node

    def _declare(self, node: Node, tokens: Sequence[Token]) -> None:
        found = declared(tokens)
        node.declares = [self.variable(d.name, d, node) for d in found]
        node.scope = {**node.scope, **{v.name: v for v in node.declares}}

    def _split(self, node: Node) -> None:
        statement = node.statement
        if statement.form in (Form.SWITCH, Form.BREAK, Form.CONTINUE, Form.RETURN):
            if statement.form is Form.SWITCH:
                raise NotUnderstood("threads that meet in a switch")
            return
        node.is_split = True
        if _meets(statement.head):
            raise NotUnderstood("threads that meet in a condition")
        if statement.form is Form.FOR:
            first = split(statement.head, ";")[0]
            if first:
                self._declare(node, [*first, first[-1]])
        for part in statement.parts:
            inside = (
                part.parts
                if part.form is Form.BLOCK and statement.form is not Form.BLOCK
                else [part]
            )
            node.parts = [*node.parts, self.nodes(inside, node.scope, (*node.enclosing, node))]
        if statement.form is Form.BLOCK:
            node.parts = [self.nodes(statement.parts, node.scope, (*node.enclosing, node))]

    def _calls(self, tokens: Sequence[Token]) -> list[Call]:
        found: list[Call] = []
        for number, token in enumerate(tokens):
            if token.text in BARRIERS:
                self._check_barrier(tokens)
            if token.text not in MEETINGS:
                continue
            if number + 1 >= len(tokens) or tokens[number + 1].text != "(":
                raise NotUnderstood("a warp operation that is not called")
            closing = behind(tokens, number + 1) - 1
            if found and token.start < found[-1].end:
                raise NotUnderstood("a warp operation inside of another one")
            arguments = split(tokens[number + 2 : closing], ",")
            if len(arguments) < MEETINGS[token.text]:
                raise NotUnderstood("a warp operation with too few arguments")
            if not token.text.startswith("__syncthreads"):
                self._check_mask(arguments[0])
                arguments = arguments[1:]
            call = Call(
                function=token.text,
                start=token.start,
                end=tokens[closing].end,
                arguments=arguments,
            )
            found.append(call)
        return found

    def _check_barrier(self, tokens: Sequence[Token]) -> None:
        arguments = tokens[2:-2]
        is_whole = tokens[1].text == "(" and tokens[-2].text == ")"
        if tokens[0].text not in BARRIERS or not is_whole:
            raise NotUnderstood("a barrier inside of an expression")
        if arguments:
            self._check_mask(arguments)

    def _check_mask(self, tokens: Sequence[Token]) -> None:
        text = " ".join(token.text for token in tokens)
        if macro := self.around.macros.get(text):
            text = " ".join(token.text for token in macro.body)
            text = re.sub(r"^\( (.*) \)$", r"\1", text)
        if not _ALL_LANES.fullmatch(text):
            raise NotUnderstood("a mask that may leave lanes out")


def _meets(tokens: Sequence[Token]) -> bool:
    return any(token.text in BARRIERS or token.text in MEETINGS for token in tokens)


def _is_split(statement: Statement) -> bool:
    return _meets(statement.tokens) or _jumps_out(statement)


def _jumps_out(statement: Statement) -> bool:
    """Whether a break or continue in it belongs to a loop around it."""
    if statement.form in (Form.BREAK, Form.CONTINUE):
        return True
    if statement.form is Form.SWITCH:
        return any(token.text == "continue" for token in statement.tokens)
    return statement.form not in _LOOPS and any(map(_jumps_out, statement.parts))


def _check_simple(node: Node) -> None:
    """Arguments are evaluated before the statement: nothing in it may decide or change them."""
    texts = [token.text for token in node.statement.tokens]
    if {"?", "&&", "||", "++", "--", "sizeof", "decltype", "auto"} & set(texts):
        raise NotUnderstood("a warp operation that not every thread may reach")
    pieces = split(node.statement.tokens[:-1], ",")
    if not node.declares and len(pieces) > 1:
        raise NotUnderstood("a warp operation behind a comma")
    own = {variable.name for variable in node.declares}
    for call in node.calls:
        if any(token.text in own for argument in call.arguments for token in argument):
            raise NotUnderstood("a warp operation on what its own statement declares")
        if any(token.text.endswith("=") and len(token.text) < 4 and token.text not in
               ("==", "<=", ">=", "!=") for argument in call.arguments for token in argument):  # fmt: skip
            raise NotUnderstood("an assignment inside of a warp operation")
