"""What an expression of a Python source is worth, as far as that can be told without running it.

    source = BODY.replace("N", "4")        with BODY = "..." before it
    flags = ["-O3"] + [f"-DN={N}"]

Covered: constants, names bound to them, concatenation, f-strings, `%`, `format`, `replace`, `join`,
`strip` and its like, `textwrap.dedent`, lists, tuples, dictionaries and their items.

Not covered: functions of the source, and whatever else has to be run. Nothing is evaluated that would
become larger than `MAX_CHARACTERS`.
"""

from __future__ import annotations

import ast
import re
import string
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["MAX_CHARACTERS", "Unknown", "value_of"]

MAX_CHARACTERS = 250_000
_MAX_DEPTH = 200
_TEXT_METHODS = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "split", "splitlines"})
_WIDE = re.compile(r"\d{4}")
"""A width in a format that could make a text of any size."""
_WIDE_PERCENT = re.compile(r"%[-+ #0-9.]*(?:\d{4}|\*)")


class Unknown(Exception):
    """It has to be run to be known; the message says what, the line where."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def value_of(node: ast.expr, names: Mapping[str, Any], *, depth: int = 0) -> Any:
    """The value of an expression.

    Args:
        node: The expression.
        names: What names are bound to, where that is known, or why it is not.
        depth: Of the expression in another one.

    >>> value_of(ast.parse("'a' + B.replace('x', 'y')", mode="eval").body, {"B": "xx"})
    'ayy'

    Raises:
        Unknown: it has to be run to be known.
    """
    if depth > _MAX_DEPTH:
        raise Unknown("an expression that is nested too deeply", node.lineno)

    def inner(child: ast.expr) -> Any:
        return value_of(child, names, depth=depth + 1)

    evaluate = _KINDS.get(type(node))
    if evaluate is None:
        raise Unknown(f"`{_shown(node)}`, which has to be run to be known", node.lineno)
    try:
        value = evaluate(node, names, inner)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        fault = f"`{_shown(node)}`, which fails with {type(error).__name__}"
        raise Unknown(fault, node.lineno) from None
    if isinstance(value, (str, list, tuple)) and len(value) > MAX_CHARACTERS:
        raise _too_large(node)
    return value


Inner = Callable[[ast.expr], Any]


def _constant(node: Any, _names: Mapping[str, Any], _inner: Inner) -> Any:
    return node.value


def _name(node: Any, names: Mapping[str, Any], _inner: Inner) -> Any:
    if node.id not in names:
        raise Unknown(f"the value of `{node.id}`", node.lineno)
    value = names[node.id]
    if isinstance(value, Unknown):
        raise Unknown(f"`{node.id}`, which comes from {value}", value.line)
    return value


def _joined(node: Any, _names: Mapping[str, Any], inner: Inner) -> str:
    return "".join(str(inner(part)) for part in node.values)


def _formatted(node: Any, _names: Mapping[str, Any], inner: Inner) -> str:
    value = inner(node.value)
    convert: dict[int, Callable[[Any], Any]] = {114: repr, 115: str, 97: ascii}
    value = convert[node.conversion](value) if node.conversion in convert else value
    wanted = str(inner(node.format_spec)) if node.format_spec is not None else ""
    if _WIDE.search(wanted):
        raise _too_large(node)
    return format(value, wanted)


def _binary(node: Any, _names: Mapping[str, Any], inner: Inner) -> Any:
    left, right = inner(node.left), inner(node.right)
    match node.op:
        case ast.Add() if isinstance(left, (str, list, tuple)):
            return left + right
        case ast.Mod() if isinstance(left, str):
            # What a dictionary fills has names in brackets, behind which a width may hide.
            if (_WIDE if isinstance(right, dict) else _WIDE_PERCENT).search(left):
                raise _too_large(node)
            return left % right
        case ast.Mult() if isinstance(left, (str, list)) and isinstance(right, int):
            if len(left) * right > MAX_CHARACTERS:
                raise _too_large(node)
            return left * right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _arithmetic(node, left, right)
    raise Unknown(f"`{_shown(node)}`, which has to be run to be known", node.lineno)


def _arithmetic(node: Any, left: float, right: float) -> float:
    if max(abs(left), abs(right)) > 1 << 62:
        raise _too_large(node)
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv() if right:
            return left // right
    raise Unknown(f"`{_shown(node)}`, which has to be run to be known", node.lineno)


def _listed(node: Any, _names: Mapping[str, Any], inner: Inner) -> list[Any]:
    values: list[Any] = []
    for child in node.elts:
        values += inner(child.value) if isinstance(child, ast.Starred) else [inner(child)]
    return values


def _dictionary(node: Any, _names: Mapping[str, Any], inner: Inner) -> dict[Any, Any]:
    values: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        values |= inner(value) if key is None else {inner(key): inner(value)}
    return values


def _item(node: Any, _names: Mapping[str, Any], inner: Inner) -> Any:
    return inner(node.value)[inner(node.slice)]


def _call(node: Any, _names: Mapping[str, Any], inner: Inner) -> Any:
    function = node.func
    arguments = [inner(argument) for argument in node.args]
    if isinstance(function, (ast.Name, ast.Attribute)) and _last(function) == "dedent":
        return textwrap.dedent(*arguments)
    if isinstance(function, ast.Name) and function.id == "str" and not node.keywords:
        return str(*arguments)
    if isinstance(function, ast.Name) and function.id == "dict" and not arguments:
        pairs = {keyword.arg: keyword.value for keyword in node.keywords}
        if None not in pairs:
            return {key: inner(value) for key, value in pairs.items()}
    if isinstance(function, ast.Attribute):
        owner = inner(function.value)
        named = {keyword.arg: inner(keyword.value) for keyword in node.keywords if keyword.arg}
        if isinstance(owner, str) and len(named) == len(node.keywords):
            return _text_call(node, owner, arguments, named)
    raise Unknown(f"`{_shown(node)}`, which has to be run to be known", node.lineno)


def _text_call(node: Any, owner: str, arguments: list[Any], named: dict[str, Any]) -> Any:
    """A method of a text, unless it could make one of any size."""
    method = node.func.attr
    if method == "format":
        if any(_WIDE.search(part[2] or "") for part in string.Formatter().parse(owner)):
            raise _too_large(node)
        # "{0.__class__}" and the like reach for what is no constant.
        if any("." in (part[1] or "") or "[" in (part[1] or "") or "{" in (part[2] or "")
               for part in string.Formatter().parse(owner)):  # fmt: skip
            raise Unknown(f"`{_shown(node)}`, a format with attributes or items", node.lineno)
        if owner.count("{") * max(
            (len(str(v)) for v in (*arguments, *named.values())), default=0
        ) > (MAX_CHARACTERS * 4):
            raise _too_large(node)
        return owner.format(*arguments, **named)
    if method == "replace" and len(arguments) == 2:
        if len(owner) + owner.count(arguments[0]) * len(arguments[1]) > MAX_CHARACTERS * 4:
            raise _too_large(node)
        return owner.replace(*arguments)
    if method == "join" and len(arguments) == 1:
        parts = list(arguments[0])
        if sum(map(len, parts)) + len(owner) * len(parts) > MAX_CHARACTERS * 4:
            raise _too_large(node)
        return owner.join(parts)
    if method in _TEXT_METHODS:
        return getattr(owner, method)(*arguments, **named)
    raise Unknown(f"`{_shown(node)}`, which has to be run to be known", node.lineno)


_KINDS: dict[type[ast.expr], Callable[[Any, Mapping[str, Any], Inner], Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.BinOp: _binary,
    ast.List: _listed,
    ast.Tuple: lambda node, names, inner: tuple(_listed(node, names, inner)),
    ast.Dict: _dictionary,
    ast.Subscript: _item,
    ast.Call: _call,
}


def _last(function: ast.Name | ast.Attribute) -> str:
    return function.id if isinstance(function, ast.Name) else function.attr


def _shown(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _too_large(node: Any) -> Unknown:
    return Unknown(f"a text of more than {MAX_CHARACTERS:,} characters", node.lineno)
