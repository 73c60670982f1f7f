"""What the text of a submission says before anything of it runs.

Covered: names as Python resolves them through `import` and attributes; includes, calls and
attributes of CUDA C++ outside comments and strings. Every finding states the place, the fact and
the way out. An import that is never used, and whatever could be innocent, is evidence, not a
refusal: a wrong accusation is worse than a missed one.

Not covered: anything that is written so as not to be seen (`getattr` with a computed name, token
pasting, `exec`). What runs is judged by how it runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.errors import CompileError, Refused, UnsupportedOnDevice
from cuda_gym.judge.verification.cpp_text import includes, is_own_file, line_of, mask, own_functions
from cuda_gym.judge.verification.model_class import parse_model, require_model
from cuda_gym.judge.verification.python_names import (
    Use,
    attribute_of,
    imported_names,
    used_names,
)

__all__ = ["check_kernels", "check_model"]

_MODEL = "model_new.py"


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """Names that a submission may not use, all for one reason."""

    name: str
    names: frozenset[str]
    """Dotted, each with all that is below it."""
    reason: str
    """Goes after `uses X, `."""


_KERNEL = "write it as a kernel in kernels/*.cu and call its launcher from cuda_extension"
_RULES = (
    _Rule(
        name="native code",
        names=frozenset({"ctypes", "_ctypes", "cffi", "torch.utils.cpp_extension"}),
        reason=f"which runs native code that the judge did not compile; {_KERNEL}",
    ),
    _Rule(
        name="other processes",
        names=frozenset(
            {"subprocess", "multiprocessing", "torch.multiprocessing", "os.system", "os.popen"}
            | {"os.fork", "os.forkpty", "os.posix_spawn", "os.posix_spawnp", "pty"}
            | {f"os.exec{kind}" for kind in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")}
            | {f"os.spawn{kind}" for kind in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")}
        ),
        reason="which starts a process; a submission is judged in its own process alone: remove it",
    ),
    _Rule(
        name="network",
        names=frozenset({"socket", "_socket", "urllib", "requests", "http", "httpx", "aiohttp"}),
        reason="which needs a network; there is none while a submission is judged: remove it",
    ),
    _Rule(
        name="other compute libraries",
        names=frozenset({"numpy", "scipy", "numba", "triton", "cupy", "jax", "tensorflow"}),
        reason=f"which computes outside of your kernels; {_KERNEL} (for plain numbers use math)",
    ),
    _Rule(
        name="dynamic imports",
        names=frozenset({"importlib", "imp", "runpy"}),
        reason="which imports what cannot be read from the text; use a plain import",
    ),
    _Rule(
        name="compilers of torch",
        names=frozenset(
            {"torch.compile", "torch._dynamo.optimize", "torch._inductor", "torch.library"}
        )
        | {"torch.jit.script", "torch.jit.trace", "torch.jit.trace_module", "torch.jit.freeze"}
        | {"torch.jit.load", "torch.jit.optimize_for_inference"},
        reason=f"which lets torch compute; {_KERNEL}",
    ),
)
_FOREIGN = {name.partition(".")[0] for rule in _RULES for name in rule.names} - {"torch"}
_HANDS_OUT_MEMORY = frozenset({"numpy", "__array__", "__dlpack__"})
_INLINE = "torch.utils.cpp_extension.load_inline"
_LOAD = "torch.utils.cpp_extension.load"
_NO_CODE = "torch.utils.cpp_extension.CUDA_HOME"
_CPP = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp")
_FORBIDDEN_HEADER = re.compile(
    r"thread|pthread\.h|unistd\.h|dlfcn\.h|fstream|sys/.*|/.*|(?:.*/)?\.\./.*"
)
_COMPUTED_INCLUDE = re.compile(r"^[^\S\n]*#[^\S\n]*include[^\S\n]++[\w?]", re.MULTILINE)
_REGISTRY = "../binding_registry.h"
"""Beside kernels/ in CUDA Agent's folder: where its bindings are noted."""
_VENDOR_HEADER = re.compile(
    r"cublas|cudnn|cusparse|cusolver|cufft|cutlass|cute/|curand\.h|mkl|dnnl"
)
_FORBIDDEN_CALL = re.compile(
    r"(?<![\w.>:])(?P<qualifier>(?:\w++\s*+)?::\s*+)?"
    r"(?P<name>system|popen|v?fork|dlm?open|dlv?sym|posix_spawnp?|execv?p?e|execvp?|syscall|ptrace)\s*+\("
)
_CONSTRUCTOR = re.compile(
    r"__attribute__\s*\(\(\s*(?:\w+\s*,\s*)*_*constructor|\[\[\s*gnu\s*::\s*constructor"
)
_TELLING_NAMES = ("sys.modules", "sys._getframe", "gc", "inspect", "builtins")
_TELLING_CALLS = frozenset({"exec", "eval", "compile", "__import__", "open", "globals", "vars"})


def check_model(source: str, *, device: Device, library: tuple[str, ...]) -> tuple[str, ...]:
    """The facts of `model_new.py` that a reader of its Verdict should know.

    Args:
        source: its text.
        device: where it is to run.
        library: the calls of `cuda_extension.library` that the task allows.

    Raises:
        CompileError: it does not parse, or has no `ModelNew` with a `forward`.
        Refused: it uses what the rules forbid.
        UnsupportedOnDevice: it compiles its own extension on `cpu`.
    """
    tree = parse_model(source)
    require_model(tree)
    imported = imported_names(tree)
    uses = list(used_names(tree, imported))
    loaders = [use for use in uses if use.name == _INLINE]
    refusals = [
        f"{_MODEL}:{use.line} uses {use.name}, {rule.reason}. (Rule: {rule.name}.)"
        for use in uses
        for rule in _RULES
        if use.name not in (_INLINE, _LOAD, _NO_CODE) and _breaks(use, rule)
    ]
    refusals += [
        f"{_MODEL}:{use.line} uses {use.name}, which compiles files that are no part of a submission; "
        f"give the sources as strings to load_inline, or {_KERNEL}. (Rule: native code.)"
        for use in uses
        if use.name == _LOAD
    ]
    refusals += [
        f"{_MODEL}:{node.lineno} calls .{called[1]}(), which hands a tensor's memory to another "
        f"library; {_KERNEL}. (Rule: other compute libraries.)"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (called := attribute_of(node.func))
        and called[1] in _HANDS_OUT_MEMORY
    ]
    if refusals:
        raise Refused("\n".join(dict.fromkeys(refusals)))
    if loaders and device.kind == "cpu":
        message = (
            f"{loaders[0].name} is not available on the cpu device; put the CUDA source into "
            'kernels/*.cu with an extern "C" launcher, and call it through cuda_extension'
        )
        place = Diagnostic(
            severity=Severity.ERROR, message=message, file=_MODEL, line=loaders[0].line
        )
        raise UnsupportedOnDevice(str(place), (place,))
    return tuple(dict.fromkeys(_model_evidence(tree, imported, uses, library)))


def check_kernels(files: Mapping[str, str], library: tuple[str, ...]) -> tuple[str, ...]:
    """The facts of CUDA C++ sources that a reader of their Verdict should know.

    Raises:
        CompileError: they include what only the preprocessor knows.
        Refused: they include or call what reaches out of the kernel.
    """
    refusals: list[str] = []
    evidence: list[str] = []
    masked = {path: mask(text) for path, text in sorted(files.items()) if path.endswith(_CPP)}
    own = {name for code in masked.values() for name in own_functions(code)}
    for path, code in masked.items():
        _require_plain_includes(path, code)
        for line, opening, header in includes(code, files[path]):
            is_own = header == _REGISTRY or (opening == '"' and is_own_file(path, header, files))
            if _FORBIDDEN_HEADER.fullmatch(header) and not is_own:
                refusals.append(
                    f"{path}:{line} includes {header!r}, which reaches out of the kernel; remove it "
                    "and include only CUDA's, C++'s and your own headers by their plain names"
                )
            elif not library and _VENDOR_HEADER.match(header):
                evidence.append(f"{path}:{line} includes {header!r}")
        for match in _FORBIDDEN_CALL.finditer(code):
            qualifier = re.sub(r"\s", "", match["qualifier"] or "")
            is_own = qualifier != "std::" and match["name"] in own
            if qualifier in ("", "::", "std::") and not is_own:
                refusals.append(
                    f"{path}:{line_of(code, match.start('name'))} calls {match['name']}(), which "
                    "reaches out of the kernel; remove it"
                )
        for match in _CONSTRUCTOR.finditer(code):
            refusals.append(
                f"{path}:{line_of(code, match.start())} has a constructor function, which runs when "
                "the library is loaded; let a launcher do that work"
            )
    if refusals:
        raise Refused("\n".join(dict.fromkeys(refusals)))
    return tuple(dict.fromkeys(evidence))


def _require_plain_includes(path: str, code: str) -> None:
    """See to it that every included file is named: a macro could name one of the machine."""
    if match := _COMPUTED_INCLUDE.search(code):
        place = Diagnostic(
            severity=Severity.ERROR,
            message="an #include of something computed is not allowed; "
            "include a file of the submission or a header of CUDA or C++ by its name",
            file=path,
            line=line_of(code, match.start()),
        )
        raise CompileError(str(place), (place,))


def _breaks(use: Use, rule: _Rule) -> bool:
    """Whether a rule forbids a name: `ctypes.CDLL`, and what torch has imported, `torch.ctypes.CDLL`."""
    first, *parts = use.name.split(".")
    if first == "torch":
        inner = next((n for n, part in enumerate(parts) if part in _FOREIGN), None)
        beyond = None if inner is None else Use(".".join(parts[inner:]), use.line)
        if beyond is not None and any(beyond.is_below(name) for name in rule.names):
            return True
    return any(use.is_below(name) for name in rule.names)


def _model_evidence(
    tree: ast.Module, imported: Mapping[str, Use], uses: Sequence[Use], library: tuple[str, ...]
) -> Iterator[str]:
    """What a reader should know, though it breaks no rule."""
    for use in imported.values():
        if any(use.is_below(name) for rule in _RULES for name in rule.names):
            yield f"{_MODEL}:{use.line} imports {use.name}"
        elif use.is_below("model"):
            yield f"{_MODEL}:{use.line} imports {use.name}, the reference"
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in _TELLING_CALLS:
                yield f"{_MODEL}:{node.lineno} calls {name}()"
            case ast.Call(func=ast.Name(id="getattr"), args=[_, name, *_]) if not isinstance(
                name, ast.Constant
            ):
                yield f"{_MODEL}:{node.lineno} asks for an attribute by a computed name"
            case ast.Try(handlers=[_, *_]):
                yield f"{_MODEL}:{node.lineno} catches errors"
    for use in uses:
        if any(use.is_below(name) for name in _TELLING_NAMES):
            yield f"{_MODEL}:{use.line} uses {use.name}, which shows more than the submission"
    aliases = [a for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    names = {alias.asname or alias.name for alias in aliases if alias.name == "cuda_extension"}
    yield from _extension_evidence(uses, library, is_rebound=not names <= imported.keys())


def _extension_evidence(
    uses: Sequence[Use], library: tuple[str, ...], *, is_rebound: bool
) -> Iterator[str]:
    """How compiled code is reached."""
    if not is_rebound and not any(
        use.is_below("cuda_extension") or use.name == _INLINE for use in uses
    ):
        yield f"{_MODEL} never uses cuda_extension"
    for use in uses:
        call = use.name.removeprefix("cuda_extension.library.")
        if call != use.name and call not in library:
            yield f"{_MODEL}:{use.line} calls library.{call}, which this task does not allow"
        elif use.name == _INLINE:
            yield f"{_MODEL}:{use.line} compiles an extension of its own with {use.name}"
        elif use.is_below("torch._C") or use.is_below("torch.ops"):
            yield f"{_MODEL}:{use.line} uses {use.name}, an inner part of torch"
