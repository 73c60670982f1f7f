"""What the names in a kernel that are not its own stand for: macros, constants, other functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuda_gym.judge.toolchains.cuda_declarations import Declaration, Kind
from cuda_gym.judge.toolchains.cuda_on_cpu.statements import Token, tokens_of
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER

__all__ = ["Macro", "Surroundings", "surroundings"]

_DEFINE = re.compile(
    rf"\s*#\s*define\s+{IDENTIFIER}(?P<parameters>\([^()]*\))?(?P<body>.*)", re.DOTALL
)
_STRUCTURE = frozenset(
    ("{", "}", ";", "#", "if", "else", "for", "while", "do", "return", "break", "continue", "goto",
     "switch", "case", "asm", "__asm__", "_Pragma")
)  # fmt: skip
_CHANGING = frozenset(
    ("&", "=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
)
# Functions of the C++ library that change what they are given.
_CHANGING_CALLS = frozenset(
    ("swap", "exchange", "tie", "move", "forward", "ref", "frexp", "modf", ".")
)


@dataclass(frozen=True, kw_only=True)
class Macro:
    """One `#define`."""

    parameters: frozenset[str]
    body: Sequence[Token]

    @property
    def is_expression(self) -> bool:
        """Whether it stands for an expression: neither for statements nor for pieces of anything."""
        texts = [token.text for token in self.body]
        is_whole = all(texts.count(a) == texts.count(b) for a, b in ("()", "[]"))
        return is_whole and not _STRUCTURE & set(texts)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """All names of a submission, as far as they matter inside of kernels."""

    macros: Mapping[str, Macro]
    constants: frozenset[str]
    """Namespace-scope variables that nothing changes, and types."""
    reference_takers: frozenset[str]
    """Functions and macros that may change what they are given."""
    index_readers: frozenset[str]
    """Functions and classes that read `threadIdx`, themselves or through others."""

    def takes_references(self, function: str) -> bool:
        """Whether a function of this name may change its arguments."""
        return function in self.reference_takers or function in _CHANGING_CALLS


def surroundings(found: Sequence[Declaration], index_readers: frozenset[str]) -> Surroundings:
    """What the declarations of a submission say."""
    macros: dict[str, Macro] = {}
    constants: set[str] = set()
    takers: set[str] = set()
    for declaration in found:
        if declaration.kind is Kind.MACRO:
            (name,) = declaration.names
            macro = _macro(declaration)
            if _CHANGING & {token.text for token in macro.body} or name in macros:
                takers.add(name)
            # Defined twice: which one counts where is not for us to know.
            macros[name] = Macro(parameters=frozenset(), body=_TWICE) if name in macros else macro
        elif declaration.kind is Kind.OTHER and _is_constant(declaration):
            constants |= declaration.names
        elif any("&" in part and "const" not in part for part in declaration.head.split(",")):
            takers |= declaration.names
        if declaration.kind is Kind.CLASS:
            takers |= declaration.names
            constants |= declaration.names
    return Surroundings(
        macros=macros,
        constants=frozenset(constants),
        reference_takers=frozenset(takers),
        index_readers=index_readers,
    )


_TWICE = tuple(tokens_of(";", 0, 1))


def _is_constant(declaration: Declaration) -> bool:
    head = declaration.head
    if re.match(r"\s*(?:typedef|using)\b", head):
        return True
    is_number = re.match(r"\s*(?:static\s+|inline\s+)*(?:constexpr|const)\b[^*&{}]*=", head)
    return is_number is not None and "," not in head and "volatile" not in head


def _macro(declaration: Declaration) -> Macro:
    text = declaration.source.masked[declaration.start : declaration.end].replace("\\\n", "  ")
    match = _DEFINE.match(text)
    if match is None:
        return Macro(parameters=frozenset(), body=_TWICE)
    parameters = re.findall(IDENTIFIER, match["parameters"] or "")
    return Macro(
        parameters=frozenset(parameters), body=tokens_of(text, match.start("body"), len(text))
    )
