"""A Python file as a task, in KernelBench's format.

The format: `class Model`, `get_inputs()` and `get_init_inputs()` at module level. Optional: a
docstring, whose first line becomes the title, and a literal that says more:

    TASK = {"family": "matmul", "band": "hard", "roofline": "compute", "library": ["gemm"]}

The literal is about the task and no part of what is computed: the source of a Task is without it.

Covered: reading the file and its syntax tree; nothing in it is executed. Not covered: whether the
module runs and can be judged fairly, which only running it shows.
"""

from __future__ import annotations

import ast
import os
import re
import stat
from pathlib import Path

from cuda_gym.core.task import Band, Roofline, Task
from cuda_gym.errors import BadTask, UnknownTask, did_you_mean
from cuda_gym.tasks.task_literal import said_by_task_literal, sizes_of, without_task_literal

__all__ = ["MAX_BYTES", "task_from_file", "task_from_source"]

MAX_BYTES = 1_000_000
"""The longest task file; KernelBench's longest has some 20,000 bytes."""

_MAX_TITLE = 100
_FORMAT = "A task has `class Model(nn.Module)`, `get_inputs()` and `get_init_inputs()`."


def task_from_file(path: str | Path, *, id: str | None = None) -> Task:
    """Read a task without executing it.

    Args:
        path: A Python file in KernelBench's format.
        id: What the task is called; None calls it as its path was given.

    Raises:
        UnknownTask: there is no such file.
        BadTask: it is no task; the message has line and remedy.
    """
    source = _read(Path(path))
    stem = re.sub(r"^\d+_", "", Path(path).stem).replace("_", " ").strip()
    return task_from_source(source, id=id or str(path), origin=str(path), title=stem)


def task_from_source(source: str, *, id: str, origin: str, title: str) -> Task:
    """Make a task of the text of a file.

    Args:
        source: Python in KernelBench's format.
        id: What the task is called.
        origin: What messages call the text.
        title: The title where neither `TASK` nor a docstring has one.

    Raises:
        BadTask: it is no task; the message has line and remedy.
    """
    tree = _parse(source, origin)
    _check_format(tree, origin)
    said = said_by_task_literal(tree, origin)
    docstring = (ast.get_docstring(tree) or "").strip()
    first_line = docstring.split("\n", 1)[0].strip().removesuffix(".")
    chosen = said.get("title") or first_line or title or id
    # A docstring may hold half a surrogate pair, which nothing can print.
    chosen = chosen.encode("utf-8", "replace").decode()
    return Task(
        id=id,
        source=without_task_literal(source, tree),
        title=" ".join(chosen.split())[:_MAX_TITLE],
        family=said.get("family", "other"),
        band=Band(said["band"]) if "band" in said else None,
        roofline=Roofline(said["roofline"]) if "roofline" in said else None,
        library=tuple(said.get("library", ())),
        allow_tf32=said.get("allow_tf32", False),
        sizes=sizes_of(said, tree, origin),
    )


# Reading


def _read(path: Path) -> str:
    """The text of an ordinary file of bearable size.

    Raises:
        UnknownTask: there is none.
        BadTask: it is something else, or its bytes are no text.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            what = "a folder" if stat.S_ISDIR(found.st_mode) else "no ordinary file"
            raise BadTask(f"{str(path)!r} is {what}. Give the path of one Python file.")
        if found.st_size > MAX_BYTES:
            raise BadTask(
                f"{str(path)!r} has {found.st_size:,} bytes; a task has at most {MAX_BYTES:,}. "
                "Make large constants in `get_inputs()` instead of writing them out."
            )
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise UnknownTask(_why_missing(path)) from None
    except UnicodeDecodeError as error:
        raise BadTask(
            f"{str(path)!r} is no UTF-8 text: byte {error.start} is "
            f"0x{error.object[error.start]:02x}. Save the file as UTF-8."
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadTask(
            f"{str(path)[:200]!r} cannot be read: {reason}. Check the path and its permissions."
        ) from None


def _why_missing(path: Path) -> str:
    if path.is_symlink():
        return (
            f"{str(path)!r} is a symbolic link to {str(path.readlink())!r}, which does not exist. "
            "Give the path of a Python file."
        )
    return f"There is no file {str(path)!r} (looked from {os.getcwd()!r}). Check the path."  # noqa: PTH109


def _parse(source: str, origin: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise BadTask(f"{origin}, line {error.lineno}: {error.msg}. {_FORMAT}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        reason = str(error) or "it is nested too deeply"
        raise BadTask(f"{origin} cannot be parsed as Python: {reason}. {_FORMAT}") from None


# The format


def _check_format(tree: ast.Module, origin: str) -> None:
    """Whether the three names are there, as what they must be.

    Raises:
        BadTask: with the line, where there is one, and the remedy.
    """
    found = {
        node.name: node
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    }
    for name, kind in (
        ("Model", ast.ClassDef),
        ("get_inputs", ast.FunctionDef),
        ("get_init_inputs", ast.FunctionDef),
    ):
        what = "`class Model`" if name == "Model" else f"function `{name}()`"
        node = found.get(name)
        if node is None:
            hint = did_you_mean(name, found)
            raise BadTask(f"{origin} has no {what} at module level.{hint} {_FORMAT}")
        if not isinstance(node, kind):
            raise BadTask(f"{origin}, line {node.lineno}: `{name}` is no {what}. {_FORMAT}")
        if isinstance(node, ast.FunctionDef) and _num_required(node.args):
            raise BadTask(
                f"{origin}, line {node.lineno}: `{name}` is called without arguments, but has "
                f"{_num_required(node.args)} without a default. Use module-level constants."
            )


def _num_required(arguments: ast.arguments) -> int:
    positional = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return positional + arguments.kw_defaults.count(None)
