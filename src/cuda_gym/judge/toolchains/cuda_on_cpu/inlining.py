"""Calls of functions that wait, replaced in kernels by what the functions do.

    v = warp_sum(v);    becomes    float r; { float p = (v); ...; r = (p); } v = r;    on one line

A kernel can only be cut where its own text shows the barriers (see `fission.py`), and reductions are
mostly written as functions. Covered: one definition of a name, parameters by value, one return at the
end, type parameters that are given or are the type of a plain variable, functions that call others.
Not covered: recursion, members, overloads. A kernel in which a call stays keeps its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuda_gym.judge.toolchains.cuda_declarations import Declaration, Kind
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import waiting_functions
from cuda_gym.judge.toolchains.cuda_on_cpu.inlined_functions import Function, read_function
from cuda_gym.judge.toolchains.cuda_on_cpu.missing_features import LEGACY_WARP
from cuda_gym.judge.toolchains.cuda_on_cpu.statements import (
    Form,
    NotUnderstood,
    Statement,
    Token,
    behind,
    read_block,
    split,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.variables import declared, text_of
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, Source, closing

__all__ = ["with_inlined_waits"]

_DEEPEST = 5
_LONGEST = 30_000
_UNORDERED = frozenset(("?", "&&", "||", "++", "--"))


def with_inlined_waits(source: Source, found: Sequence[Declaration]) -> Source:
    """A file with the calls of waiting functions in its kernels inlined, where all of them can be.

    Args:
        source: The file.
        found: The declarations of all files of the submission.
    """
    functions = _functions(found)
    own = [d for d in found if d.source is source and d.is_kernel and d.kind is Kind.FUNCTION]
    text = source.text
    for kernel in reversed(own):
        if kernel.body is None or not functions.keys() & kernel.mentions:
            continue
        end = closing(source.code, kernel.body - 1)
        try:
            body = _Inliner(functions, kernel).expand(source.text[kernel.body : end])
        except NotUnderstood:
            continue
        text = text[: kernel.body] + body + text[end:]
    return source if text == source.text else Source(source.path, text)


def _functions(found: Sequence[Declaration]) -> dict[str, Function | None]:
    """The functions that wait; None for those that cannot be inlined."""
    functions: dict[str, Function | None] = {}
    for declaration in waiting_functions(found):
        for name in declaration.names:
            if declaration.kind is Kind.PROTOTYPE:
                continue
            is_first = name not in functions and declaration.kind is Kind.FUNCTION
            # Without a mask nothing is cut, and the warnings belong to the lines of the function.
            can_help = is_first and not any(map(LEGACY_WARP.fullmatch, declaration.mentions))
            functions[name] = read_function(name, declaration) if can_help else None
    return functions


@dataclass(frozen=True, kw_only=True)
class _Call:
    function: Function
    start: int
    end: int
    types: Sequence[str]
    arguments: Sequence[Sequence[Token]]


class _Inliner:
    """Expands the calls in one kernel."""

    def __init__(self, functions: Mapping[str, Function | None], kernel: Declaration) -> None:
        self._functions = functions
        self._head = frozenset(re.findall(IDENTIFIER, kernel.head))
        self._count = 0

    def expand(self, body: str) -> str:
        """The body without calls of waiting functions; its lines stay lines.

        Raises:
            NotUnderstood: a call stays.
        """
        for _ in range(_DEEPEST):
            source = Source("", body)
            if not self._functions.keys() & set(re.findall(IDENTIFIER, source.code)):
                return body
            statements = read_block(source.code, 0, len(body))
            types = _types(statements)
            edits = [edit for s in statements for edit in self._expanded(s, types, is_alone=False)]
            if not edits:
                raise NotUnderstood("a call of unknown shape")
            for start, end, text in sorted(edits, reverse=True):
                lines = body.count("\n", start, end)
                body = f"{body[:start]}{text}{chr(10) * lines}{body[end:]}"
            if len(body) > _LONGEST:
                break
        raise NotUnderstood("functions that call each other too deeply")

    def _expanded(
        self, statement: Statement, types: Mapping[str, str | None], *, is_alone: bool
    ) -> list[tuple[int, int, str]]:
        if statement.form is Form.SIMPLE:
            call = self._call(statement.tokens)
            return [] if call is None else [self._replacement(statement, call, types, is_alone)]
        is_list = statement.form is Form.BLOCK
        return [
            edit
            for part in statement.parts
            for edit in self._expanded(part, types, is_alone=not is_list)
        ]

    def _call(self, tokens: Sequence[Token]) -> _Call | None:
        """The first call in a statement; later ones are expanded in the next round."""
        for at, token in enumerate(tokens):
            if token.text not in self._functions:
                continue
            function = self._functions[token.text]
            opening, types = at + 1, []
            if opening < len(tokens) and tokens[opening].text == "<":
                closing_ = next((i for i in range(at, len(tokens)) if tokens[i].text == ">"), at)
                types = [text_of(piece) for piece in split(tokens[opening + 1 : closing_], ",")]
                opening = closing_ + 1
            if function is None or opening >= len(tokens) or tokens[opening].text != "(":
                raise NotUnderstood("a function that cannot be inlined")
            if at and tokens[at - 1].text in (".", "->", "::", "&"):
                raise NotUnderstood("a function by another name")
            last = behind(tokens, opening) - 1
            inside = tokens[opening + 1 : last]
            arguments = split(inside, ",") if inside else []
            start, end = token.start, tokens[last].end
            return _Call(function=function, start=start, end=end, types=types, arguments=arguments)
        return None

    def _replacement(
        self,
        statement: Statement,
        call: _Call,
        types: Mapping[str, str | None],
        is_alone: bool,
    ) -> tuple[int, int, str]:
        self._check_order(statement, call)
        self._count += 1
        function = call.function
        result = f"cuda_on_cpu_result_{self._count}"
        known = function.resolve(call.types, call.arguments, types)
        free = function.free_names()
        hidden = self._head | types.keys()
        if free & hidden:
            raise NotUnderstood("a name that means something else in the kernel")
        inside = function.expansion(call.arguments, known, f"_cuda_on_cpu_{self._count}", result)
        before = [t for t in statement.tokens if t.start < call.start]
        behind = [t for t in statement.tokens if t.start >= call.end]
        rest = f"{text_of(before)} {result} {text_of(behind)}"
        kind = function.result(known)
        if kind == "void":
            if before or len(behind) != 1:
                raise NotUnderstood("a value of a function that has none")
            text = inside
        else:
            text = f"{kind} {result}; {inside} {rest}"
        return statement.start, statement.end, f"{{ {text} }}" if is_alone else text

    def _check_order(self, statement: Statement, call: _Call) -> None:
        outside = [t.text for t in statement.tokens if not call.start <= t.start < call.end]
        inside = [t.text for argument in call.arguments for t in argument]
        if _UNORDERED & {*outside, *(t for t in inside if t in ("++", "--"))}:
            raise NotUnderstood("a call that not every thread may reach")
        names = {variable.name for variable in declared(statement.tokens)}
        if names & set(inside) or len(names) > 1:
            raise NotUnderstood("a call on what its own statement declares")
        if not names and len(split(statement.tokens[:-1], ",")) > 1:
            raise NotUnderstood("a call behind a comma")


def _types(statements: Sequence[Statement]) -> dict[str, str | None]:
    """The types of a kernel's variables by name; None where two share one."""
    found: dict[str, str | None] = {}
    for statement in (inner for outer in statements for inner in outer.walk()):
        tokens: Sequence[Token] = statement.tokens if statement.form is Form.SIMPLE else ()
        if statement.form is Form.FOR:
            first = split(statement.head, ";")[0]
            tokens = [*first, first[-1]] if first else ()
        for variable in declared(tokens) if tokens else ():
            is_plain = not (
                variable.dimensions or variable.is_reference or "auto" in variable.words
            )
            kind = variable.type if is_plain else None
            found[variable.name] = None if found.get(variable.name, kind) != kind else kind
    return found
