"""What a GPU's compiler refuses of kernels, and a compiler for the host lets pass.

    __global__ float k(...)           a kernel returns nothing
    float f(float x); ... f(x)        a kernel calls what is there for the host alone
    void k(float* x); ... k<<<1, 1>>> what is launched is no kernel

On the device `cpu` both run. They are warnings there, so that nobody learns what holds nowhere else.

Covered: functions that the submission itself defines. Not covered: functions of system headers, members
of classes, lambdas, and what macros make.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.judge.toolchains.cuda_tokens import (
    Definition,
    Token,
    definitions,
    read_tokens,
    without_attributes,
)

__all__ = ["device_rule_warnings"]

_MOST = 4
_DEVICE = frozenset({"__device__", "__global__", "constexpr"})
_NO_FUNCTION = frozenset({"struct", "class", "union", "enum", "="})
_BEFORE_A_CALL = frozenset({"return", "else", "do", "case", "co_return", "throw"})
_VALUES = frozenset({"float", "double", "int", "unsigned", "long", "bool", "__half", "half"})
_MEMBERS = frozenset({".", "->", "::"})


def device_rule_warnings(files: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    r"""One warning for each place, the first few.

    >>> source = "float half_of(float x) { return x / 2; }\n__global__ void k(float* x) { x[0] = half_of(x[1]); }"
    >>> print(*device_rule_warnings({"kernels/a.cu": source}))  # doctest: +ELLIPSIS
    kernels/a.cu:2: warning: half_of (kernels/a.cu:1) is a function of the host...
    """
    functions = [
        function
        for path in sorted(files)
        if path.endswith((".cu", ".cuh", ".h", ".hpp"))
        for definition in definitions(read_tokens(files[path]))
        if (function := _function(definition, path)) is not None
    ]
    ours = {function.name for function in functions if function.is_device}
    hosts = {
        function.name: function
        for function in functions
        if function.name not in ours and not _is_declared_for_device(function.name, files)
    }
    found = [warning for f in functions if f.is_device for warning in _warnings(f, hosts)]
    found += [warning for f in functions for warning in _launches(f, functions, files)]
    return tuple(dict.fromkeys(found))[:_MOST]


@dataclass(frozen=True, kw_only=True)
class _Function:
    name: str
    file: str
    line: int
    words: frozenset[str]
    """All of its head."""
    before: frozenset[str]
    """What stands in front of its name."""
    body: Sequence[Token]

    @property
    def is_device(self) -> bool:
        return bool(self.before & _DEVICE)


def _function(definition: Definition, file: str) -> _Function | None:
    head = without_attributes(definition.head)
    texts = [token.text for token in head]
    at = texts.index("(") if "(" in texts else 0
    if not at or not re.fullmatch(r"\w+", texts[at - 1]) or _NO_FUNCTION & set(texts[:at]):
        return None
    return _Function(
        name=texts[at - 1],
        file=file,
        line=head[at - 1].line,
        words=frozenset(texts),
        before=frozenset(texts[: at - 1]),
        body=definition.body,
    )


def _is_declared_for_device(name: str, files: Mapping[str, str]) -> bool:
    """Whether some other declaration, or a macro, makes it a function of the device."""
    declared = re.compile(rf"(?:__device__|#\s*define)[^;{{}}]*\b{re.escape(name)}\b")
    return any(declared.search(text) for text in files.values())


def _warnings(function: _Function, hosts: Mapping[str, _Function]) -> Iterator[Diagnostic]:
    before = function.before
    if "__global__" in before and before & _VALUES and not before & {"void", "auto"}:
        yield _warning(
            function.file, function.line,
            f"kernel {function.name} returns a value, which a GPU's compiler refuses; write void",
        )  # fmt: skip
    if not {"__device__", "__global__"} & function.before:
        return
    texts = [token.text for token in function.body]
    for at, token in enumerate(function.body[:-1]):
        host = hosts.get(token.text)
        if host is None or texts[at + 1] != "(" or token.text in function.words:
            continue
        last = texts[at - 1] if at else ""
        if last in _MEMBERS or (re.match(r"\w", last) and last not in _BEFORE_A_CALL):
            continue
        yield _warning(
            function.file, token.line,
            f"{host.name} ({host.file}:{host.line}) is a function of the host, and a GPU's compiler "
            "refuses the call; write __device__ in front of it",
        )  # fmt: skip


def _launches(
    function: _Function, functions: Sequence[_Function], files: Mapping[str, str]
) -> Iterator[Diagnostic]:
    """Launches of functions that nothing makes a kernel."""
    texts = [token.text for token in function.body]
    for at, token in enumerate(function.body):
        is_launch = texts[at + 1 : at + 4] == ["<", "<", "<"] and token.text not in function.words
        named = [other for other in functions if other.name == token.text] if is_launch else []
        if not named or texts[at - 1 : at] in (["."], ["->"], ["::"]):
            continue
        if not any("__global__" in f.before or _has_macro(f.before, files) for f in named):
            yield _warning(
                function.file, token.line,
                f"{token.text} ({named[0].file}:{named[0].line}) is launched, but is no kernel, and "
                "a GPU's compiler refuses that; write __global__ in front of it",
            )  # fmt: skip


def _has_macro(words: Iterable[str], files: Mapping[str, str]) -> bool:
    """Whether a macro of the submission stands among the words: it may make a kernel."""
    macro = re.compile(rf"#\s*define\s+(?:{'|'.join(map(re.escape, words)) or '$^'})\b")
    return any(macro.search(text) for text in files.values())


def _warning(file: str, line: int, message: str) -> Diagnostic:
    return Diagnostic(severity=Severity.WARNING, message=message, file=file, line=line)
