"""A function that waits, ready to be written out where it is called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuda_gym.judge.toolchains.cuda_declarations import Declaration
from cuda_gym.judge.toolchains.cuda_on_cpu.statements import (
    Form,
    NotUnderstood,
    Statement,
    Token,
    read_block,
    split,
    tokens_of,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.variables import Declared, declared, text_of
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, closing

__all__ = ["Function", "read_function"]

_QUALIFIERS = frozenset(
    ("__device__", "__host__", "__forceinline__", "__inline__", "inline", "static", "__noinline__",
     "constexpr", "__restrict__")
)  # fmt: skip
_TEMPLATE = re.compile(r"\s*template\s*<([^<>]*)>")
_CONSTRUCTED = re.compile(rf"({IDENTIFIER}(?: <[^()]*>)?) (?:\( \)|\{{ \}})")


@dataclass(frozen=True, kw_only=True)
class Function:
    """Its parts."""

    name: str
    template: Sequence[tuple[str, bool]]
    """The template parameters, and whether each is a type."""
    returns: Sequence[Token]
    parameters: Sequence[Declared]
    body: Sequence[Token]
    """Without the last statement where that returns."""
    value: Sequence[Token] | None
    """What it returns."""
    locals: frozenset[str]

    def resolve(
        self,
        given: Sequence[str],
        arguments: Sequence[Sequence[Token]],
        types: Mapping[str, str | None],
    ) -> dict[str, str]:
        """What each template parameter stands for.

        Args:
            given: Template arguments of the call.
            arguments: Its arguments.
            types: The types of the caller's variables.

        Raises:
            NotUnderstood: that cannot be told.
        """
        if len(arguments) != len(self.parameters) or len(given) > len(self.template):
            raise NotUnderstood("a call with default arguments")
        known = {name: text for (name, _), text in zip(self.template, given, strict=False)}
        for parameter, argument in zip(self.parameters, arguments, strict=True):
            if parameter.type in dict(self.template) and parameter.type not in known:
                kind = types.get(argument[0].text) if len(argument) == 1 else None
                made = _CONSTRUCTED.fullmatch(text_of(argument))
                kind = made[1] if made else kind
                if kind is None:
                    raise NotUnderstood("a type that is not known")
                known[parameter.type] = kind
        if known.keys() != dict(self.template).keys():
            raise NotUnderstood("a template argument that is not known")
        return known

    def result(self, known: Mapping[str, str]) -> str:
        """The type that it returns."""
        return _written(self.returns, known)

    def expansion(
        self,
        arguments: Sequence[Sequence[Token]],
        known: Mapping[str, str],
        suffix: str,
        result: str,
    ) -> str:
        """A block that does what the function does, on one line.

        Args:
            arguments: Those of the call.
            known: What template parameters stand for.
            suffix: Put behind the names of its own variables, so that they hide none of the caller's.
            result: The variable that the value goes to.
        """
        names = {**known, **{name: name + suffix for name in self.locals}}
        parts = []
        for parameter, argument in zip(self.parameters, arguments, strict=True):
            kind = " ".join(known.get(word, word) for word in parameter.type.split())
            parts.append(f"{kind} {names[parameter.name]} = {text_of(argument)};")
        parts.append(_written(self.body, names))
        if self.value is not None:
            parts.append(f"{result} = ({_written(self.value, names)});")
        return f"{{ {' '.join(parts)} }}"

    def free_names(self) -> frozenset[str]:
        """Names in it that are not its own."""
        own = self.locals | {name for name, _ in self.template}
        tokens = [*self.body, *(self.value or ()), *self.returns]
        return frozenset(
            token.text
            for at, token in enumerate(tokens)
            if token.is_name and token.text not in own and not _is_member(tokens, at)
        ) - frozenset(("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "const", "unsigned",
                       "int", "float", "double", "bool", "char", "long", "short", "void", "if", "for",
                       "while", "else", "do", "__shared__", "static", "return", "size_t"))  # fmt: skip


def _is_member(tokens: Sequence[Token], at: int) -> bool:
    return at > 0 and tokens[at - 1].text in (".", "->", "::")


def _written(tokens: Sequence[Token], names: Mapping[str, str]) -> str:
    text_of(tokens)
    return " ".join(
        token.text if _is_member(tokens, at) else names.get(token.text, token.text)
        for at, token in enumerate(tokens)
    )


def read_function(name: str, declaration: Declaration) -> Function | None:
    """A function as far as it can be inlined; None where it cannot."""
    try:
        return _read(name, declaration)
    except NotUnderstood:
        return None


def _read(name: str, declaration: Declaration) -> Function:
    code, body = declaration.source.code, declaration.body
    if body is None or not declaration.has("__device__"):
        raise NotUnderstood("no function of the device")
    head = code[declaration.start : body - 1]
    template = _TEMPLATE.match(head)
    start = template.end() if template else 0
    opening = head.find("(", head.find(name, start))
    end = closing(head, opening)
    if head[end + 1 :].strip():
        raise NotUnderstood("a head of unknown shape")
    returns = [
        t for t in tokens_of(head, start, head.find(name, start)) if t.text not in _QUALIFIERS
    ]
    if any(t.text in ("auto", "&", "template", "__launch_bounds__", "(") for t in returns):
        raise NotUnderstood("a result of unknown type")
    pieces = split(tokens_of(head, opening + 1, end), ",")
    parameters = [_parameter(piece) for piece in pieces if piece]
    statements = read_block(code, body, closing(code, body - 1))
    value = None
    if statements and statements[-1].form is Form.RETURN:
        value = statements.pop().tokens[1:-1] or None
    inner = [each for statement in statements for each in statement.walk()]
    if any(each.form in (Form.RETURN, Form.SWITCH) for each in inner):
        raise NotUnderstood("more than one return")
    variables = [*parameters, *(v for each in inner for v in _declared(each))]
    return Function(
        name=name,
        template=_template(template[1] if template else ""),
        returns=returns,
        parameters=parameters,
        body=[token for statement in statements for token in statement.tokens],
        value=value,
        locals=frozenset(variable.name for variable in variables),
    )


def _parameter(piece: Sequence[Token]) -> Declared:
    (found,) = declared([*piece, piece[-1]]) or (None,)
    if found is None or found.is_reference or found.dimensions or found.initial is not None:
        raise NotUnderstood("a parameter that is no plain value")
    return found


def _declared(statement: Statement) -> list[Declared]:
    if statement.form is Form.SIMPLE:
        return declared(statement.tokens)
    first = split(statement.head, ";")[0] if statement.form is Form.FOR else ()
    return declared([*first, first[-1]]) if first else []


def _template(text: str) -> list[tuple[str, bool]]:
    found = []
    for piece in text.split(",") if text.strip() else ():
        words = re.findall(IDENTIFIER, piece)
        if len(words) < 2 or "=" in piece or "." in piece:
            raise NotUnderstood("a template parameter of unknown kind")
        found.append((words[-1], words[0] in ("typename", "class")))
    return found
