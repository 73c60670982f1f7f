"""Torch operators that `forward` calls by name: they are refused when it runs, so compile tells.

Covered: functions of `torch.nn.functional`, the usual ones of `torch`, and modules of the constructor that
are called. Not covered: methods and operators of tensors (`x.relu()`, `x + y`), whose types only a run
knows; there each of them is refused with its line. All are warnings: a line that never runs does no harm.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.judge.verification.python_names import Use, full_name, imported_names

__all__ = ["operator_warnings"]

_MODEL = "model_new.py"
_COMPUTING = frozenset(
    [
        "abs",
        "add",
        "addmm",
        "amax",
        "amin",
        "argmax",
        "argmin",
        "baddbmm",
        "bmm",
        "cat",
        "clamp",
        "clone",
        "concat",
        "conv1d",
        "conv2d",
        "conv3d",
        "cos",
        "cumsum",
        "div",
        "dot",
        "einsum",
        "erf",
        "exp",
        "flip",
        "gather",
        "index_add",
        "index_select",
        "layer_norm",
        "log",
        "log_softmax",
        "logsumexp",
        "matmul",
        "max",
        "maximum",
        "mean",
        "min",
        "minimum",
        "mm",
        "mul",
        "mv",
        "norm",
        "pow",
        "prod",
        "relu",
        "roll",
        "rsqrt",
        "scatter",
        "scatter_add",
        "sigmoid",
        "sin",
        "softmax",
        "sort",
        "sqrt",
        "square",
        "stack",
        "std",
        "sub",
        "sum",
        "tanh",
        "topk",
        "tril",
        "triu",
        "var",
        "where",
    ]
)
_FREE = frozenset(
    {
        "Parameter", "ParameterList", "ParameterDict", "ModuleList", "ModuleDict", "Identity", "Flatten",
        "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout",
        "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout",
    }
)  # fmt: skip
"""Of `torch.nn` and its functions: hold something, take a view, or give back what they got, once training is over."""
_ADVICE = "compute it in a kernel under kernels/; forward may only allocate and take views"


def operator_warnings(source: str) -> tuple[Diagnostic, ...]:
    """Where `forward` calls an operator that computes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # '\\d' in a string of the agent's is not our warning
        tree = ast.parse(source, _MODEL)
    found = sorted(set(_called(tree)))
    return tuple(
        Diagnostic(
            severity=Severity.WARNING,
            message=f"{name} computes and is refused where it runs; {_ADVICE}",
            file=_MODEL,
            line=line,
        )
        for line, name in found
    )


def _called(tree: ast.Module) -> Iterator[tuple[int, str]]:
    imported = imported_names(tree)
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "ModelNew"]
    for method in (m for c in classes for m in c.body if isinstance(m, ast.FunctionDef)):
        if method.name != "forward":
            continue
        modules = {name for c in classes for name in _modules(c, imported)}
        for call in (n for n in ast.walk(method) if isinstance(n, ast.Call)):
            name = full_name(call.func, imported) or ""
            module, _, last = name.rpartition(".")
            is_function = module == "torch.nn.functional" and last not in _FREE
            if is_function or (module == "torch" and last in _COMPUTING):
                yield call.lineno, name
            elif (called := ast.unparse(call.func)) in modules:
                yield call.lineno, f"the module {called}"


def _modules(model: ast.ClassDef, imported: Mapping[str, Use]) -> Iterator[str]:
    """`self.linear` for each `self.linear = nn.Linear(...)`."""
    for node in ast.walk(model):
        if isinstance(node, ast.Assign) and _computes(node.value, imported):
            yield from map(ast.unparse, node.targets)


def _computes(made: ast.expr, imported: Mapping[str, Use]) -> bool:
    """Whether it makes a module of torch that computes: `nn.Linear(4, 4)`, and what holds one."""
    name = full_name(made.func, imported) or "" if isinstance(made, ast.Call) else ""
    if isinstance(made, ast.Call) and name == "torch.nn.Sequential" and made.args:
        return any(_computes(part, imported) for part in made.args)
    return name.startswith("torch.nn.") and name.rpartition(".")[2] not in _FREE
