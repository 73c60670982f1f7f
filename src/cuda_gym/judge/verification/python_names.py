"""The dotted names that a Python source uses, as its imports made them known.

    import torch.nn.functional as F
    F.relu(x)                           uses torch.nn.functional.relu

Covered: `import` and `from` in any scope, aliases; `__import__("name")`, `sys.modules["name"]` and
`getattr(module, "name")` with plain strings.

Not covered: names that are computed. A name that the source also binds in another way (a parameter,
an assignment) is left out: it may mean something else. So is one that only says of which type something
is: an annotation without a call computes nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Use", "attribute_of", "full_name", "imported_names", "used_names"]


@dataclass(frozen=True)
class Use:
    """A dotted name and where it is used."""

    name: str
    line: int

    def is_below(self, prefix: str) -> bool:
        """Whether it is that name, or something inside it.

        >>> Use("os.path.join", 1).is_below("os.path"), Use("ospath", 1).is_below("os")
        (True, False)
        """
        return f"{self.name}.".startswith(f"{prefix}.")


def imported_names(tree: ast.Module) -> dict[str, Use]:
    """What each local name stands for, and the line that says so."""
    names: dict[str, Use] = {}
    otherwise_bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                names[local] = Use(alias.name if alias.asname else local, node.lineno)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            for alias in node.names:
                local = alias.asname or alias.name
                names[local] = Use(f"{node.module}.{alias.name}", node.lineno)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            otherwise_bound.add(node.id)
        elif isinstance(node, ast.arg):
            otherwise_bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            otherwise_bound.add(node.name)
    return {local: use for local, use in names.items() if local not in otherwise_bound}


def used_names(tree: ast.Module, imported: Mapping[str, Use]) -> Iterator[Use]:
    """Every use of an imported name, with the attributes that follow it."""
    inner = _named_types(tree)
    for node in ast.walk(tree):  # an attribute comes before what it is an attribute of
        if (found := attribute_of(node)) is not None:
            inner.add(id(found[0]))
        if id(node) not in inner and (name := full_name(node, imported)):
            yield Use(name, getattr(node, "lineno", 1))
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and node.module:
            yield Use(node.module, node.lineno)


def full_name(node: ast.AST, imported: Mapping[str, Use]) -> str | None:
    """The name in full, where it begins with an imported one."""
    attributes: list[str] = []
    while (found := attribute_of(node)) is not None:
        node, name = found
        attributes.append(name)
    module = _module_name(node, imported)
    return None if module is None else ".".join([module, *reversed(attributes)])


def attribute_of(node: ast.AST) -> tuple[ast.AST, str] | None:
    """What an attribute is asked of, and its name, as `os.fork` and as `getattr(os, "fork")`."""
    match node:
        case ast.Attribute(value=owner, attr=name):
            return owner, name
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            return owner, name
    return None


def _module_name(node: ast.AST, imported: Mapping[str, Use]) -> str | None:
    """What a name stands for, or the module that `__import__` or `sys.modules` is asked for."""
    match node:
        case ast.Name(id=local) if local in imported:
            return imported[local].name
        case ast.Call(func=ast.Name(id="__import__"), args=[ast.Constant(value=str(module)), *_]):
            return module
        case ast.Subscript(value=table, slice=ast.Constant(value=str(module))):
            return module if _is_table_of_modules(table, imported) else None
        case ast.Call(
            func=ast.Attribute(value=table, attr="get"), args=[ast.Constant(value=str(module)), *_]
        ):
            return module if _is_table_of_modules(table, imported) else None
    return None


def _is_table_of_modules(node: ast.AST, imported: Mapping[str, Use]) -> bool:
    """Whether it is `sys.modules`, through whatever module it was reached."""
    match node:
        case ast.Name(id=local) if local in imported:
            return imported[local].name == "sys.modules"
        case ast.Attribute(value=ast.Name(id=local), attr="modules") if local in imported:
            return imported[local].name == "sys"
        case ast.Attribute(value=ast.Attribute(attr="sys"), attr="modules"):
            return True
    return False


def _named_types(tree: ast.Module) -> set[int]:
    """The nodes of annotations that only name types, by identity."""
    named: set[int] = set()
    for node in ast.walk(tree):
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            parts = list(ast.walk(annotation)) if isinstance(annotation, ast.AST) else []
            if all(isinstance(part, _PARTS_OF_A_TYPE) for part in parts):
                asked = {id(part.value) for part in parts if isinstance(part, ast.Subscript)}
                named.update(id(part) for part in parts if id(part) not in asked)
    return named


_PARTS_OF_A_TYPE = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.BitOr,
    ast.Load,
)  # fmt: skip
"""What `dict[str, np.ndarray] | None` is made of. Of what is subscripted, code does run: that is a use."""
