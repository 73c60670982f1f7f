"""Kernels with barriers as loops instead of fibers, wherever their text shows that this is right.

    for each thread { before }  __syncthreads();  for each thread { behind }

A barrier that the whole block passes together cuts a kernel into phases, and each phase becomes a
loop over the threads, which the compiler vectorises. Loops and branches around barriers stay as they
are: they are executed once for the block.

Covered: barriers and warp operations (see `plan.py`) at the top of a kernel or inside of for, while,
do and if whose conditions are the same for all threads (see `uniformity.py`), or of an `if` that
whole warps take; threads that return early; loops that walk over an array with the stride of a block
or a grid (see `strides.py`), in kernels without barriers too.

Not covered: barriers in __device__ functions and macros, cooperative groups, masks of part of a warp,
kernels whose address is taken or that are launched by another name than their own, volatile, spins,
lambdas, goto, preprocessor conditionals in a body. Such kernels, and those in which anything is not
understood, are run as fibers: that is slower, and right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cuda_gym.judge.toolchains.cuda_declarations import Declaration, Kind
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Modes, is_waiting, spins
from cuda_gym.judge.toolchains.cuda_on_cpu.cutting import Change, Writer
from cuda_gym.judge.toolchains.cuda_on_cpu.plan import BARRIERS, MEETINGS, Variable, make_plan
from cuda_gym.judge.toolchains.cuda_on_cpu.statements import (
    NotUnderstood,
    read_block,
    split,
    tokens_of,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.surroundings import Surroundings, surroundings
from cuda_gym.judge.toolchains.cuda_on_cpu.uniformity import Uniformity
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, Source, closing

__all__ = ["fission"]

_LONGEST_BODY = 30_000
_OTHER_DIRECTIVE = re.compile(r"^[ \t]*#(?!\s*pragma\b)", re.MULTILINE)
_TEMPLATE = re.compile(r"\btemplate\s*<([^;{}()]*)>")
_FORBIDDEN = frozenset(("volatile", "this", "printf", "new", "clock", "clock64"))
_LAUNCHED = r"{name}\s*(?:<[^;{{}}()]*>\s*)?<<<"
_ASKED = r"cuda(?:Func|Occupancy)\w+(?:<[^;{{}}]*?>)?\s*\([^;{{}}]*?\b{name}\b"


def fission(
    found: Sequence[Declaration],
    kernels: Mapping[str, Declaration],
    values: frozenset[str],
    decided: Modes,
) -> dict[str, Sequence[Change]]:
    """How the text of each kernel changes that can be cut, by its name.

    Args:
        found: All declarations of all files.
        kernels: The kernels by name.
        values: Those that are also used as values.
        decided: What is known about waiting.
    """
    sources = list({d.source.path: d.source for d in found}.values())
    if decided.is_hidden or not _launches_are_known(sources, kernels):
        return {}
    around = surroundings(found, decided.indexing)
    changes: dict[str, Sequence[Change]] = {}
    for name, kernel in kernels.items():
        if name in values or _is_used_otherwise(name, kernel, found, sources):
            continue
        try:
            cut = _cut(kernel, around, decided)
        except NotUnderstood:
            continue
        if cut:
            changes[name] = cut
    return changes


def _launches_are_known(sources: Sequence[Source], kernels: Mapping[str, Declaration]) -> bool:
    launched = re.compile(rf"({IDENTIFIER})\s*(?:<[^;{{}}()]*>\s*)?<<<")
    for source in sources:
        places = source.masked.count("<<<")
        names = launched.findall(source.masked)
        if len(names) != places or not set(names) <= kernels.keys() or "##" in source.masked:
            return False
    return True


def _is_used_otherwise(
    name: str, kernel: Declaration, found: Sequence[Declaration], sources: Sequence[Source]
) -> bool:
    """Whether it has namesakes, or is mentioned where it is neither launched nor declared."""
    own = [d for d in found if name in d.names]
    if [d for d in own if d.kind is not Kind.PROTOTYPE] != [kernel]:
        return True
    known = len(own)
    for pattern in (_LAUNCHED, _ASKED):
        expression = re.compile(rf"\b{pattern.format(name=name)}")
        known += sum(len(expression.findall(source.masked)) for source in sources)
    mention = re.compile(rf"\b{name}\b")
    return sum(len(mention.findall(source.masked)) for source in sources) != known


def _cut(kernel: Declaration, around: Surroundings, decided: Modes) -> list[Change]:
    """The changes for one kernel; none where nothing is gained.

    Raises:
        NotUnderstood: it is left as it is.
    """
    source, body = kernel.source, kernel.body
    if body is None or kernel.end - kernel.start > _LONGEST_BODY or spins(kernel):
        raise NotUnderstood("a kernel of unknown shape")
    end = closing(source.code, body - 1)
    _check_words(kernel, decided)
    nodes, parameters = make_plan(read_block(source.code, body, end), _parameters(kernel), around)
    _check_macros(
        kernel, around, [*parameters, *(v for n in nodes for i in n.walk() for v in i.declares)]
    )
    uniformity = Uniformity(nodes, parameters, around, _template_constants(kernel))
    writer = Writer(source, body, uniformity, parameters, around.index_readers)
    changes = writer.write(nodes)
    meets = any(i.is_barrier or i.is_split or i.calls for node in nodes for i in node.walk())
    return changes if meets or writer.num_strides else []


def _check_words(kernel: Declaration, decided: Modes) -> None:
    body = kernel.source.masked[kernel.body or 0 : kernel.end]
    words = set(re.findall(IDENTIFIER, body))
    known = BARRIERS | MEETINGS.keys()
    if words & _FORBIDDEN or _OTHER_DIRECTIVE.search(body):
        raise NotUnderstood("a word that forbids it")
    if any(is_waiting(word) and word not in known for word in words):
        raise NotUnderstood("another way to wait")
    if words & (decided.waiting - kernel.names):
        raise NotUnderstood("a function that waits")


def _check_macros(kernel: Declaration, around: Surroundings, variables: Sequence[Variable]) -> None:
    names = {variable.name for variable in variables}
    pending = [word for word in kernel.mentions if word in around.macros]
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        seen.add(name)
        macro = around.macros[name]
        words = {token.text for token in macro.body if token.is_name} - macro.parameters
        if (
            not macro.is_expression
            or words & (names | {"threadIdx"} | _FORBIDDEN)
            or any(map(is_waiting, words))
        ):
            raise NotUnderstood("a macro that is more than an expression")
        pending += [word for word in words if word in around.macros and word not in seen]


def _parameters(kernel: Declaration) -> list[str]:
    """The names of a kernel's parameters, and maybe more names that stand among them."""
    head = kernel.source.code[kernel.start : (kernel.body or kernel.start) - 1]
    opening = head.rfind("(")
    last = head.rstrip()
    depth = 0
    for at in range(len(last) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(last[at], 0)
        if depth == 0:
            opening = at
            break
    if not last.endswith(")"):
        raise NotUnderstood("a kernel's head of unknown shape")
    names = []
    for piece in split(tokens_of(head, opening + 1, len(last) - 1), ","):
        words = [token for token in piece if token.is_name]
        if words:
            names.append(words[-1].text)
    return names


def _template_constants(kernel: Declaration) -> frozenset[str]:
    return frozenset(
        word for inside in _TEMPLATE.findall(kernel.head) for word in re.findall(IDENTIFIER, inside)
    )
