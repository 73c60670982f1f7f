"""The sources that a `model_new.py` gives to `torch.utils.cpp_extension.load_inline`.

    module = load_inline(name="scale", cpp_sources=DECLARATIONS, cuda_sources=SOURCE, functions=["scale"])

They are found by reading, never by running: the judge compiles them before anything of the submission
runs, and `load_inline` then only hands out what was compiled.

Covered: arguments that `constant_values` can tell, by keyword and by position; calls at module level,
in functions and in classes; names that are bound again between two calls.

Not covered: a name that is bound in a branch or a loop; arguments that depend on the arguments of a
function. What cannot be told is a `CompileError` with its line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.constant_values import Unknown, value_of
from cuda_gym.judge.toolchains.inline_calls import loader_calls, parse_model

__all__ = ["SOLE_EXTENSION", "InlineExtension", "Piece", "find_inline_extensions"]

SOLE_EXTENSION = "inline_extension"
"""What the one extension of a file is called whose own name has to be run to be known."""

_MODEL = "model_new.py"
_POSITIONS = ("name", "cpp_sources", "cuda_sources")
"""What follows them has changed its place from one torch to the next."""
_SILENT = frozenset(
    {"verbose", "with_cuda", "build_directory", "keep_intermediates", "use_pch", "is_python_module"}
)
"""They decide nothing here, and need not be known."""
_REMEDY = "give it a string, or a name that is bound to one at the top of the file"


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One source text, and where it stands in `model_new.py`."""

    text: str
    line: int | None
    """Of its first line, from 1; None where its lines are not those of the file."""


@dataclass(frozen=True, kw_only=True)
class InlineExtension:
    """One call of `load_inline`."""

    name: str
    cpp: tuple[Piece, ...]
    cuda: tuple[Piece, ...]
    functions: tuple[str, ...] | None
    """What Python may call; None where a source has a PYBIND11_MODULE of its own."""
    cpp_flags: tuple[str, ...]
    cuda_flags: tuple[str, ...]
    ignored: tuple[str, ...]
    """Arguments that were given and count for nothing."""
    implicit_headers: bool
    translates_errors: bool
    """Whether torch's own errors become Python's."""
    line: int
    """Of the call."""


def find_inline_extensions(source: str) -> tuple[InlineExtension, ...]:
    """Every call of `load_inline`, in the order in which a module runs.

    Args:
        source: The text of `model_new.py`; it is known to parse.

    Raises:
        CompileError: a call cannot be understood without running it, or is one of `load`.
    """
    tree = parse_model(source)
    walk = _Walk(dict(loader_calls(tree)))
    walk.block(tree.body, {})
    if len(walk.found) > 1:
        walk.errors += [_unnamed(call.line) for call in walk.found if call.name == SOLE_EXTENSION]
    if walk.errors:
        more = f" (and {len(walk.errors) - 1} more)" if len(walk.errors) > 1 else ""
        raise CompileError(f"{walk.errors[0]}{more}", tuple(walk.errors))
    return tuple(walk.found)


class _Walk:
    """Follows the statements of a module, with what is known of its names."""

    def __init__(self, loaders: Mapping[ast.Call, str]) -> None:
        self.found: list[InlineExtension] = []
        self.errors: list[Diagnostic] = []
        self._loaders = loaders
        self._pieces: dict[str, int] = {}
        """The line of each constant text."""

    def block(self, statements: Iterable[ast.stmt], names: dict[str, Any]) -> None:
        """Statements one after the other; functions last, when all names of the module are bound."""
        later: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                later.append(statement)
            elif isinstance(statement, ast.ClassDef):
                later += [s for s in statement.body if isinstance(s, ast.FunctionDef)]
                others = [s for s in statement.body if not isinstance(s, ast.FunctionDef)]
                self.block(others, dict(names))
            else:
                self._statement(statement, names)
        for function in later:
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                own = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
                self.block(function.body, {k: v for k, v in names.items() if k not in own})

    def _statement(self, statement: ast.stmt, names: dict[str, Any]) -> None:
        bodies = [
            body
            for field in ("body", "orelse", "finalbody")
            if isinstance(body := getattr(statement, field, None), list)
        ]
        bodies += [handler.body for handler in getattr(statement, "handlers", ())]
        if not bodies:
            self._calls(statement, names)
            self._bind(statement, names)
            return
        certain = isinstance(statement, (ast.With, ast.Try))
        for number, body in enumerate(bodies):
            self.block(body, names if certain and number == 0 else dict(names))
        if not certain or len(bodies) > 1:
            kept = bodies[1:] if certain else bodies
            for name in _bound_names(node for body in kept for node in body):
                names.pop(name, None)

    def _bind(self, statement: ast.stmt, names: dict[str, Any]) -> None:
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        match statement:
            case ast.Assign():
                targets, value = statement.targets, statement.value
            case ast.AnnAssign(value=ast.expr()):
                targets, value = [statement.target], statement.value
            case ast.AugAssign(op=ast.Add(), target=ast.Name(id=added_to)):
                name = ast.copy_location(ast.Name(added_to, ast.Load()), statement)
                sum_of = ast.BinOp(name, ast.Add(), statement.value)
                targets, value = [statement.target], ast.copy_location(sum_of, statement)
        for name_ in _bound_names([statement]):
            known = names.pop(name_, None)
            if isinstance(statement, ast.AugAssign) and known is not None:
                names[name_] = known
        if value is None or not all(isinstance(target, ast.Name) for target in targets):
            return
        try:
            worth = value_of(value, names)
        except Unknown as unknown:
            worth = unknown
        for target in targets:
            assert isinstance(target, ast.Name)
            names[target.id] = worth

    def _calls(self, statement: ast.stmt, names: Mapping[str, Any]) -> None:
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._note_piece(node)
        for call in (n for n in ast.walk(statement) if isinstance(n, ast.Call)):
            if call not in self._loaders:
                continue
            try:
                if self._loaders[call] == "load":
                    raise Unknown("", call.lineno)
                self.found.append(self._extension(call, names))
            except Unknown as unknown:
                self.errors.append(_error(call, self._loaders[call], unknown))

    def _note_piece(self, node: ast.Constant) -> None:
        """Where the lines of a text are lines of the file, one by one."""
        text = str(node.value)
        if text.count("\n") == (node.end_lineno or node.lineno) - node.lineno and "\n" in text:
            self._pieces.setdefault(text, node.lineno)

    def _extension(self, call: ast.Call, names: Mapping[str, Any]) -> InlineExtension:
        given = _arguments(call, names)
        name = given.get("name")
        if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
            raise Unknown(f"the name {name!r}, which is none for a Python module", call.lineno)
        return InlineExtension(
            name=name,
            cpp=self._sources(call, given, "cpp_sources"),
            cuda=self._sources(call, given, "cuda_sources"),
            functions=_functions(call, given.get("functions")),
            cpp_flags=_texts(call, given, "extra_cflags"),
            cuda_flags=_texts(call, given, "extra_cuda_cflags"),
            ignored=tuple(
                f"{key}={given[key]!r}"
                for key in ("extra_ldflags", "extra_include_paths")
                if any(given.get(key) or ())
            ),
            implicit_headers=not given.get("no_implicit_headers", False),
            translates_errors=bool(given.get("with_pytorch_error_handling", True)),
            line=call.lineno,
        )

    def _sources(self, call: ast.Call, given: Mapping[str, Any], key: str) -> tuple[Piece, ...]:
        return tuple(
            Piece(text=text, line=self._pieces.get(text)) for text in _texts(call, given, key)
        )


def _arguments(call: ast.Call, names: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, as far as they decide anything."""
    if len(call.args) > len(_POSITIONS):
        raise Unknown(
            f"{len(call.args)} arguments by position, of which torch's versions have different "
            "ones; name those after cuda_sources",
            call.lineno,
        )
    given: dict[str, Any] = {}
    pairs: list[tuple[str | None, ast.expr]] = [*zip(_POSITIONS, call.args, strict=False)]
    pairs += [(keyword.arg, keyword.value) for keyword in call.keywords]
    for key, node in pairs:
        if key in _SILENT:
            continue
        try:
            value = value_of(node, names)
        except Unknown:
            if key == "name":
                value = SOLE_EXTENSION
            elif key in ("extra_include_paths", "extra_ldflags"):
                value = [ast.unparse(node)]
            else:
                raise
        given |= value if key is None else {key: value}
    if given.get("sycl_sources"):
        raise Unknown("sycl_sources, which is not CUDA", call.lineno)
    return given


def _texts(call: ast.Call, given: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = given.get(key) or []
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise Unknown(f"{key}, which is neither a string nor a list of strings", call.lineno)
    return tuple(texts)


def _functions(call: ast.Call, value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    functions = [value] if isinstance(value, str) else list(value)
    for function in functions:
        if not isinstance(function, str) or not function.replace("::", "_").isidentifier():
            raise Unknown(f"the function {function!r}, which is no name", call.lineno)
    return tuple(functions)


def _unnamed(line: int) -> Diagnostic:
    message = (
        "of several calls of load_inline each needs a name that can be told without running it; "
        'write it as a plain string: name="my_extension"'
    )
    return Diagnostic(severity=Severity.ERROR, message=message, file=_MODEL, line=line)


def _error(call: ast.Call, loader: str, unknown: Unknown) -> Diagnostic:
    if loader == "load":
        message = (
            "torch.utils.cpp_extension.load reads source files, which a single file has none of; "
            "give the sources as strings to load_inline, or put them under kernels/"
        )
    else:
        message = f"load_inline is given {unknown}; {_REMEDY}"
    line = unknown.line or call.lineno
    return Diagnostic(severity=Severity.ERROR, message=message, file=_MODEL, line=line)


def _bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        inner.id
        for node in nodes
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load)
    }
