"""Which variables of a kernel are the same for all threads of a block, and which statements are.

A variable is *uniform* where it only ever gets values made of parameters, blockIdx, blockDim,
gridDim, constants and other uniform variables, in statements that the whole block passes. A load
from memory through a uniform address counts: threads that would read different values there have a
race. A variable is *derived* where it can be computed anew from threadIdx whenever it is needed.
All others are *kept*: one value a thread, in memory, while the block passes a barrier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from cuda_gym.judge.toolchains.cuda_on_cpu.expressions import Reading, read
from cuda_gym.judge.toolchains.cuda_on_cpu.plan import Node, Variable
from cuda_gym.judge.toolchains.cuda_on_cpu.statements import Form, Statement, Token, split
from cuda_gym.judge.toolchains.cuda_on_cpu.surroundings import Surroundings
from cuda_gym.judge.toolchains.cuda_on_cpu.variables import ARITHMETIC, Change, changed, declared

__all__ = ["Uniformity"]

_ASSIGNING = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
_JUMPS = (Form.RETURN, Form.BREAK, Form.CONTINUE)
_OF_THE_BLOCK = ("using", "typedef", "static_assert")


class Uniformity:
    """The answer for one kernel."""

    def __init__(
        self,
        nodes: Sequence[Node],
        parameters: Sequence[Variable],
        around: Surroundings,
        constants: frozenset[str],
    ) -> None:
        self._around = around
        self._constants = constants
        self._nodes = [inside for node in nodes for inside in node.walk()]
        every = [*parameters, *(v for node in self._nodes for v in node.declares)]
        self._addressed = self._find_addressed()
        self._uniform = {v for v in every if self._may_be_uniform(v)}
        while True:
            spoilt = {
                variable
                for node in self._nodes
                for variable in self._spoilt_by(node)
                if variable in self._uniform and not _is_shared(variable)
            }
            if not spoilt:
                break
            self._uniform -= spoilt
        self._changes = self._find_changes()
        self._derived: dict[Variable, bool] = {}

    def is_uniform(self, variable: Variable) -> bool:
        """Whether it has one value for the whole block."""
        return variable in self._uniform

    def is_derived(self, variable: Variable) -> bool:
        """Whether it can be computed anew wherever it is visible."""
        if variable not in self._derived:
            self._derived[variable] = False
            self._derived[variable] = self._can_be_derived(variable)
        return self._derived[variable]

    def is_addressed(self, variable: Variable) -> bool:
        """Whether something may point to it."""
        return variable in self._addressed

    def never_changes(self, variable: Variable) -> bool:
        """Whether it keeps its first value."""
        return not self._changes[variable]

    def read(self, tokens: Sequence[Token], node: Node) -> Reading[Variable] | None:
        """How an expression gets its value."""
        reading = read(tokens, node.scope, self._around, constants=self._constants)
        if reading is None or not any(map(_is_shared_scalar, reading.variables)):
            return reading
        return replace(reading, reads_memory=True)

    def is_uniform_value(self, tokens: Sequence[Token], node: Node) -> bool:
        """Whether an expression has no side effects and one value for the whole block."""
        reading = self.read(tokens, node)
        if reading is None or reading.of_thread:
            return False
        # Where no thread comes, an address may be wrong, and a divisor 0.
        if (reading.reads_memory or reading.divides) and self._masks(node):
            return False
        return reading.variables <= self._uniform

    def runs_once(self, node: Node) -> bool:
        """Whether a whole statement can be executed once for the whole block."""
        statement = node.statement
        if node.calls:
            return False
        if statement.form in (Form.BREAK, Form.CONTINUE):
            return True
        if statement.form is Form.SIMPLE:
            return self._is_uniform_simple(node)
        if statement.form is Form.IF and not node.is_split and not self._masks(node):
            return self.is_uniform_value(statement.head, node) and all(
                map(_only_leaves, statement.parts)
            )
        return statement.form is Form.RETURN and not self._masks(node)

    def differs_at(self, node: Node) -> bool:
        """Whether the threads may go different ways at a split statement."""
        if node.statement.form is Form.FOR:
            return not self._is_uniform_head(node)
        return node.statement.form is not Form.BLOCK and not self.is_uniform_value(
            node.statement.head, node
        )

    def is_masked(self, node: Node) -> bool:
        """Whether a split `if` is passed by some threads of a block only."""
        is_if = node.is_split and node.statement.form is Form.IF
        return is_if and not self.is_uniform_value(node.statement.head, node)

    def _masks(self, node: Node) -> tuple[Node, ...]:
        return tuple(outer for outer in node.enclosing if self.is_masked(outer))

    def _may_be_uniform(self, variable: Variable) -> bool:
        declared = variable.declared
        if _is_shared(variable):
            return True
        if variable in self._addressed:
            return False
        if declared is None or declared.dimensions or declared.is_reference:
            return declared is None
        if declared.is_pointer or declared.words & (ARITHMETIC | {"auto"}):
            return True
        # A constructor may do anything, and so may the operators of what is no constant.
        is_copy = declared.initial is not None and not declared.is_braced
        return is_copy and declared.is_constant and not declared.words & self._around.index_readers

    def _find_addressed(self) -> set[Variable]:
        found = set()
        for node, change in self._all_changes():
            if change.takes_address and change.name in node.scope:
                found.add(node.scope[change.name])
        for node in self._nodes:
            for bound in _bound_to_references(node):
                found |= {node.scope[name] for name in bound & node.scope.keys()}
        return {variable for variable in found if not _is_shared(variable)}

    def _all_changes(self) -> Iterator[tuple[Node, Change]]:
        for node in self._nodes:
            tokens = node.statement.head if node.is_split else node.statement.tokens
            for change in changed(tokens, self._takes_references(node)):
                variable = node.scope.get(change.name)
                is_pointee = change.is_element and variable is not None and _points(variable)
                if not is_pointee:
                    yield node, change

    def _takes_references(self, node: Node) -> Callable[[str], bool]:
        # What is called by the name of a variable may do anything with its arguments.
        return lambda name: name in node.scope or self._around.takes_references(name)

    def _find_changes(self) -> Mapping[Variable, list[Node]]:
        found: dict[Variable, list[Node]] = defaultdict(list)
        for node, change in self._all_changes():
            variable = node.scope.get(change.name)
            if variable is not None and not self._declares_only(node, variable):
                found[variable].append(node)
        return found

    def _declares_only(self, node: Node, variable: Variable) -> bool:
        """Whether what looks like a change is the value that a declaration gives."""
        if variable not in node.declares or node.statement.form is not Form.SIMPLE:
            return False
        places = [t for t in node.statement.tokens if t.text == variable.name]
        return len(places) == 1

    def _spoilt_by(self, node: Node) -> Iterator[Variable]:
        """Variables that a node makes different from thread to thread."""
        if node.is_split:
            if (
                node.statement.form is Form.FOR and not self._is_uniform_head(node)
            ) or node.statement.form is not Form.FOR:
                yield from self._touched(node, node.statement.head)
        elif not self.runs_once(node):
            yield from self._touched(node, node.statement.tokens)

    def _touched(self, node: Node, tokens: Sequence[Token]) -> Iterator[Variable]:
        yield from node.declares
        for change in changed(tokens, self._takes_references(node)):
            variable = node.scope.get(change.name)
            if variable is not None and not (change.is_element and _points(variable)):
                yield variable

    def _is_uniform_head(self, node: Node) -> bool:
        pieces = split(node.statement.head, ";")
        if len(pieces) != 3 or not self.is_uniform_value(pieces[1], node):
            return False
        is_first = self._gives_uniform_values(node, pieces[0])
        return is_first and all(self._is_uniform_step(node, p) for p in split(pieces[2], ",") if p)

    def _gives_uniform_values(self, node: Node, first: Sequence[Token]) -> bool:
        if node.declares:
            return all(self._is_uniform_declaration(node, v) for v in node.declares)
        return all(self._is_uniform_step(node, piece) for piece in split(first, ",") if piece)

    def _is_uniform_declaration(self, node: Node, variable: Variable) -> bool:
        declared = variable.declared
        if declared is None or variable not in self._uniform:
            return False
        return declared.initial is None or self.is_uniform_value(declared.initial, node)

    def _is_uniform_simple(self, node: Node) -> bool:
        tokens = node.statement.tokens
        if tokens[0].text in _OF_THE_BLOCK or len(tokens) == 1:
            return True
        if node.declares:
            if any(map(_is_shared, node.declares)):
                return True
            return all(self._is_uniform_declaration(node, v) for v in node.declares)
        return self._is_uniform_step(node, tokens[:-1])

    def _is_uniform_step(self, node: Node, tokens: Sequence[Token]) -> bool:
        """Whether an expression gives a uniform variable another uniform value."""
        texts = [token.text for token in tokens]
        if len(texts) == 2 and texts[0] in ("++", "--"):
            target, value = tokens[1], tokens[2:]
        elif (len(texts) == 2 and texts[1] in ("++", "--")) or (
            len(texts) > 2 and texts[1] in _ASSIGNING
        ):
            target, value = tokens[0], tokens[2:]
        else:
            return False
        variable = node.scope.get(target.text)
        if variable is None or variable not in self._uniform:
            return False
        outside = self._masks(variable.node) if variable.node else ()
        if _is_shared(variable) or self._masks(node) != outside:
            return False
        return not value or self.is_uniform_value(value, node)

    def _can_be_derived(self, variable: Variable) -> bool:
        declared, node = variable.declared, variable.node
        if declared is None or node is None or declared.initial is None or declared.is_braced:
            return False
        if declared.is_shared:
            return False
        if declared.dimensions or declared.is_reference or variable in self._addressed:
            return False
        if not (declared.is_pointer or declared.words & (ARITHMETIC | {"auto"})):
            return False
        if self._changes[variable] or node.statement.form is not Form.SIMPLE or node.calls:
            return False
        reading = self.read(declared.initial, node)
        if reading is None or reading.reads_memory:
            return False
        return all(self._stays(source, node) for source in reading.variables - {variable})

    def _stays(self, source: Variable, node: Node) -> bool:
        """Whether a variable has the same value as long as what is declared at a node is visible."""
        if _is_shared(source):
            return True
        if source in self._uniform:
            return all(
                change.is_split and change.statement.form is Form.FOR and change in node.enclosing
                for change in self._changes[source]
            )
        return self.is_derived(source)


def _bound_to_references(node: Node) -> Iterator[set[str]]:
    """The names in the values of references that a node declares, inner statements included."""
    for inner in (node.statement,) if node.is_split else node.statement.walk():
        tokens: Sequence[Token] = inner.tokens if inner.form is Form.SIMPLE else ()
        if inner.form is Form.FOR:
            first = split(inner.head, ";")[0]
            tokens = [*first, first[-1]] if first else ()
        for variable in declared(tokens) if tokens else ():
            if variable.is_reference:
                yield {token.text for token in variable.initial or ()}


def _is_shared(variable: Variable) -> bool:
    return variable.declared is not None and variable.declared.is_shared


def _is_shared_scalar(variable: Variable) -> bool:
    declared = variable.declared
    return declared is not None and declared.is_shared and not declared.dimensions


def _points(variable: Variable) -> bool:
    if variable.declared is None:
        return True
    return variable.declared.is_pointer and not variable.declared.dimensions


def _only_leaves(statement: Statement) -> bool:
    if statement.form is Form.BLOCK:
        return bool(statement.parts) and all(map(_only_leaves, statement.parts))
    return statement.form in _JUMPS
