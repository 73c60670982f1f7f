"""The `model_new.py` an agent starts from: the reference's constructor, and no computation.

Covered: the imports, constants, classes and methods that the constructor needs, so that the
state_dict is right from the start; comments are lost. Not covered: a reference that does not parse
or has no `Model`; it gets a bare class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

__all__ = ["skeleton_of"]

_HEAD = '''\
"""Yours to write: ModelNew computes what Model in model.py computes, on kernels of your own.

Keep the constructor and the state_dict. In forward, allocate outputs (torch.empty, torch.empty_like),
take views, and call cuda_extension.<name>(out, x, ...) for each `extern "C" void <name>(...)` in
kernels/*.cu. A trailing stream argument is filled in for you.
"""
'''
_UNWRITTEN = (
    'raise NotImplementedError("write kernels/<name>.cu and call cuda_extension.<name>(...)")'
)
_BARE = (
    "import torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, *inputs):\n        pass"
)
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def skeleton_of(source: str) -> str:
    r"""The starting text of `model_new.py` for a reference.

    >>> reference = "import torch\nclass Model(torch.nn.Module):\n  def forward(self, x):\n    return x"
    >>> print("\n".join(skeleton_of(reference).split("\n")[-3:]).strip())
    def forward(self, x):
            raise NotImplementedError('write kernels/<name>.cu and call cuda_extension.<name>(...)')
    """
    tree = _parsed(source)
    if _model(tree) is None:
        tree = ast.parse(_BARE)
    model = _model(tree)
    assert model is not None
    new = _ModelNew().visit(model)
    new.body = _kept_methods(model) or [ast.Pass()]
    needed = _named_by(
        [
            n
            for n in tree.body
            if isinstance(n, (*_Function, ast.ClassDef, ast.Assign, ast.AnnAssign))
        ],
        [new],
    )
    imports = [ast.unparse(n) for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    parts = ["\n".join([*imports, "", "import cuda_extension"])]
    parts += [ast.unparse(ast.fix_missing_locations(node)) for node in (*needed, new)]
    return _HEAD + "\n" + "\n\n\n".join(parts) + "\n"


class _ModelNew(ast.NodeTransformer):
    """Calls the class by its new name, and leaves `forward` unwritten."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        if node.name == "Model":
            node.name = "ModelNew"
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        if node.name == "forward":
            node.body = ast.parse(_UNWRITTEN).body
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name("ModelNew", node.ctx) if node.id == "Model" else node


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _model(tree: ast.Module) -> ast.ClassDef | None:
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Model"]
    return classes[-1] if classes else None


def _kept_methods(model: ast.ClassDef) -> list[ast.stmt]:
    """The constructor, what it calls, and `forward`, in their order."""
    methods = [n for n in model.body if isinstance(n, _Function)]
    ends = [n for n in methods if n.name in ("__init__", "forward")]
    called = _named_by([n for n in methods if n not in ends], ends)
    return [n for n in model.body if n in ends or n in called]


def _named_by(candidates: Iterable[ast.stmt], start: Iterable[ast.AST]) -> list[ast.stmt]:
    """The candidates that `start` mentions by name, or that such candidates mention in turn."""
    kept: list[ast.stmt] = []
    rest = list(candidates)
    names = {name for node in start for name in _mentions(node)}
    while found := [n for n in rest if _defines(n) & names]:
        kept += found
        rest = [n for n in rest if n not in found]
        names |= {name for node in found for name in _mentions(node)}
    return sorted(kept, key=lambda node: node.lineno)


def _mentions(node: ast.AST) -> set[str]:
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return names | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, (*_Function, ast.ClassDef)):
        return {node.name} - {"Model", "ModelNew"}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {n.id for t in targets if t is not None for n in ast.walk(t) if isinstance(n, ast.Name)}
