"""Where a Python source calls torch's loaders of extensions, under whatever name they were imported.

Covered: `from torch.utils.cpp_extension import load_inline`, the module itself, other names for both.
Not covered: a loader that is handed on as a value.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

__all__ = ["loader_calls", "loads_inline", "parse_model"]

_LOADERS = ("load", "load_inline")
_MODULE = "torch.utils.cpp_extension"


def loads_inline(source: str) -> bool:
    """Whether a model calls `load_inline` or `load` of torch's."""
    if "cpp_extension" not in source:
        return False
    try:
        tree = parse_model(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(True for _ in loader_calls(tree))


def parse_model(source: str) -> ast.Module:
    """The syntax tree of `model_new.py`. Raises what `ast.parse` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # '\d' in a string of the agent's is not our warning
        return ast.parse(source, "model_new.py")


def loader_calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    """The calls of torch's two loaders, under whatever name they were imported."""
    direct: dict[str, str] = {}
    modules = {_MODULE}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == _MODULE:
            direct |= {a.asname or a.name: a.name for a in node.names if a.name in _LOADERS}
        elif isinstance(node, ast.ImportFrom) and node.module == "torch.utils":
            modules |= {a.asname or a.name for a in node.names if a.name == "cpp_extension"}
        elif isinstance(node, ast.Import):
            modules |= {a.asname for a in node.names if a.name == _MODULE and a.asname}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in direct:
            yield node, direct[node.func.id]
        elif (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in _LOADERS
            and ast.unparse(node.func.value) in modules
        ):
            yield node, node.func.attr
