"""Is `model_new.py` Python, with a `ModelNew` that has a `forward`, as far as its text tells?

Covered: classes of the file and their bases there. Not covered: what a base of another module has; it may
have all that is wanted.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.errors import CompileError

__all__ = ["parse_model", "require_model"]

_MODEL = "model_new.py"
_BASES_WITHOUT_FORWARD = frozenset({"nn.Module", "Module", "object"})


def parse_model(source: str) -> ast.Module:
    """The syntax tree.

    Raises:
        CompileError: with line, column and the text there.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # '\d' in a string of the agent's is not our warning
            return ast.parse(source, _MODEL)
    except SyntaxError as error:
        text = f": {error.text.strip()[:120]}" if error.text and error.text.strip() else ""
        place = Diagnostic(
            severity=Severity.ERROR,
            message=f"{error.msg}{text}",
            file=_MODEL,
            line=error.lineno,
            column=error.offset,
        )
        raise CompileError(str(place), (place,)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise CompileError(
            f"{_MODEL} cannot be parsed ({type(error).__name__}): it is nested too deeply or holds "
            "characters that are no text; write plain Python"
        ) from None


def require_model(tree: ast.Module) -> None:
    """Refuse a module without `ModelNew`, or one that surely has no `forward`.

    Raises:
        CompileError: with the shape of what is missing.
    """
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    bound = {
        node.id if isinstance(node, ast.Name) else node.asname or node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.alias)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    }
    if "ModelNew" not in classes | dict.fromkeys(bound):
        raise CompileError(
            f"{_MODEL} has no class ModelNew; write `class ModelNew(nn.Module)` with the "
            "constructor of the reference Model and a `forward`"
        )
    if "ModelNew" in classes and not _may_have_forward(classes["ModelNew"], classes):
        line = classes["ModelNew"].lineno
        message = "class ModelNew has no method forward; write `def forward(self, ...)`"
        place = Diagnostic(severity=Severity.ERROR, message=message, file=_MODEL, line=line)
        raise CompileError(str(place), (place,))


def _may_have_forward(model: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> bool:
    """Whether a class, or a base of it that is not known here, may have a `forward`."""
    seen: set[str] = set()
    waiting = [model]
    while waiting:
        node = waiting.pop()
        seen.add(node.name)
        if any(
            getattr(inner, "name", getattr(inner, "id", None)) == "forward"
            for inner in ast.walk(node)
        ):
            return True
        for base in node.bases:
            name = _base_name(base)
            if name is None or name not in classes.keys() | _BASES_WITHOUT_FORWARD:
                return True
            if name in classes and name not in seen:
                waiting.append(classes[name])
    return False


def _base_name(node: ast.expr) -> str | None:
    """`Name` or `module.Name`; None for anything longer, and for calls."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return f"{module}.{name}"
    return None
