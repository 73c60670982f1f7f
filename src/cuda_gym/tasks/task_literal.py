"""What a task file says about itself: `TASK = {"family": "matmul", "band": "hard", ...}`.

Every entry is optional. `_ENTRIES` has their names, and what each may hold.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from cuda_gym.core.task import Band, Roofline
from cuda_gym.errors import BadTask, did_you_mean
from cuda_gym.tasks.sizes import constants_of

__all__ = ["said_by_task_literal", "sizes_of", "without_task_literal"]

_BANDS = tuple(band.value for band in Band)
_ROOFLINES = tuple(roofline.value for roofline in Roofline)
_LIBRARY = ("gemm", "bmm", "conv")


def said_by_task_literal(tree: ast.Module, origin: str) -> dict[str, Any]:
    """The entries of `TASK = {...}`, checked; empty where there is none.

    Raises:
        BadTask: with line, entry and remedy.
    """
    statement = _task_statement(tree)
    if statement is None or statement.value is None:
        return {}
    place = f"{origin}, line {statement.lineno}"
    try:
        said = ast.literal_eval(statement.value)
    except (ValueError, TypeError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise BadTask(
            f"{place}: TASK is no dict of literals. Write it out, as in "
            'TASK = {"title": "Softmax", "band": "medium"}, or leave it away.'
        )
    for key, value in said.items():
        if key not in _ENTRIES:
            raise BadTask(
                f"{place}: TASK has no entry {key!r}.{did_you_mean(str(key), _ENTRIES)} "
                f"Its entries are {', '.join(_ENTRIES)}; all are optional."
            )
        is_right, expected = _ENTRIES[key]
        if not is_right(value):
            raise BadTask(f"{place}: TASK[{key!r}] is {value!r}; it must be {expected}.")
    return said


def without_task_literal(source: str, tree: ast.Module) -> str:
    """The source without the lines of `TASK = {...}` and the empty ones before them.

    The literal is about the task and no part of what is computed. Where another statement shares
    its lines, it stays.
    """
    statement = _task_statement(tree)
    if statement is None:
        return source
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    others = [node for node in tree.body if node is not statement]
    if any(node.lineno <= last and (node.end_lineno or node.lineno) >= first for node in others):
        return source
    lines = source.encode().splitlines(keepends=True)  # at newlines alone, as a syntax tree counts
    before = lines[: first - 1]
    while before and not before[-1].strip():
        before.pop()
    return b"".join([*before, *lines[last:]]).decode()


def sizes_of(
    said: Mapping[str, Any], tree: ast.Module, origin: str
) -> tuple[tuple[str, str, int], ...]:
    """What the entry `sizes` says: kind of device, constant, value.

    Raises:
        BadTask: it names what is no constant of the module.
    """
    constants = constants_of(tree)
    sizes = said.get("sizes", {})
    found = tuple((kind, name, size) for kind in sizes for name, size in sizes[kind].items())
    for kind, name, _ in found:
        if name not in constants:
            raise BadTask(
                f"{origin}: TASK['sizes'][{kind!r}] names {str(name)!r}, and there is no line "
                f"`{name} = <number>` at module level.{did_you_mean(str(name), constants)}"
            )
    return found


def _task_statement(tree: ast.Module) -> ast.Assign | ast.AnnAssign | None:
    for node in reversed(tree.body):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == "TASK" for target in targets):
            assert isinstance(node, (ast.Assign, ast.AnnAssign))
            return node
    return None


def _is_text(value: object) -> bool:
    # Half a surrogate pair can be written as a literal, and neither printed nor stored.
    return isinstance(value, str) and _is_encodable(value) and bool(value.strip())


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _is_library(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(item in _LIBRARY for item in value)


def _is_sizes(value: object) -> bool:
    return isinstance(value, dict) and all(
        kind in ("cpu", "cuda")
        and isinstance(sizes, dict)
        and all(type(size) is int and size > 0 for size in sizes.values())
        for kind, sizes in value.items()
    )


_ENTRIES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "title": (_is_text, "one line of text"),
    "family": (_is_text, "one word, such as 'softmax' or 'matmul'"),
    "band": (lambda value: value in _BANDS, f"one of {', '.join(map(repr, _BANDS))}"),
    "roofline": (
        lambda value: value in _ROOFLINES,
        f"one of {', '.join(map(repr, _ROOFLINES))}",
    ),
    "library": (_is_library, f"a list of {', '.join(map(repr, _LIBRARY))}"),
    "allow_tf32": (lambda value: isinstance(value, bool), "True or False"),
    "sizes": (_is_sizes, "as in {'cuda': {'batch_size': 65536}}"),
}
"""What TASK may say: whether a value fits, and what would."""
