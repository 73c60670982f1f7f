"""Which kernels may wait for another thread: those run as fibers, the others as vectorised loops.

By name and to a fixed point: what mentions a name that mentions a barrier may wait. Where names do
not tell (operators, virtual functions, functions passed as values), everything may wait. A mistake
to that side costs speed only; one to the other side ends the run with a message (see
`runtime_library/errors.cpp`), never with a wrong value.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, unique

from cuda_gym.judge.toolchains.cuda_declarations import Declaration, Kind
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER

__all__ = ["Mode", "Modes", "all_as_fibers", "is_waiting", "modes", "spins", "waiting_functions"]

_WAITING = re.compile(
    r"__syncthreads\w*|__syncwarp|__shfl\w*|__ballot\w*|__any\w*|__all(_sync)?|__match_\w+"
    r"|__reduce_\w+_sync|__activemask|__nanosleep|__barrier_\w+|this_thread_block|tiled_partition"
    r"|coalesced_threads|thread_block|thread_block_tile|coalesced_group"
    r"|wmma|mma_sync|\w+_matrix_sync|BlockReduce|BlockScan|WarpReduce|WarpScan"
)
_SPIN = re.compile(r"\bwhile\s*\([^;{}]{0,200}\batomic\w+[^;{}]{0,400}\)\s*(?:;|\{\s*\})")
_NOT_CALLED = re.compile(rf"\b({IDENTIFIER})\b(?!\s*(?:<[^;{{}}()]{{0,200}}>)?\s*\()")
_PASTED = re.compile(r"\b__\w*\s*##")

_CALLABLE = (Kind.FUNCTION, Kind.PROTOTYPE)


@unique
class Mode(Enum):
    """How the threads of a block are run; the values are the C++ names."""

    LOOP = "loop"
    """As a loop that the compiler vectorises."""
    LOOP_WITH_INDEX = "loop_with_index"
    """Likewise, and `threadIdx` is kept for the functions that read it."""
    FIBERS = "fibers"
    """Each with a stack of its own where it has to wait."""
    PHASES = "phases"
    """As one loop for each stretch between two barriers; see `fission.py`."""
    ROUNDS = "rounds"
    """As one loop for each round of a loop over an array; likewise, and nothing waits."""


@dataclass(frozen=True, kw_only=True)
class Modes:
    """The mode of each kernel of a submission."""

    kernels: Mapping[str, Mode]
    unknown: Mode
    """For launches whose kernel is not known by name: macro parameters, function pointers."""
    keeps_index: bool
    """Whether functions other than kernels read `threadIdx`."""
    waiting: frozenset[str] = frozenset()
    """Names whose mention may mean a wait."""
    indexing: frozenset[str] = frozenset()
    """Names whose mention may mean that a function other than a kernel reads `threadIdx`."""
    is_hidden: bool = False
    """Whether a kernel may wait without a mention of any of these names."""

    def with_phases(self, kernels: Iterable[str]) -> Modes:
        """The same, some kernels now being run as phases."""
        cut = {
            name: Mode.PHASES if self.of(name) is Mode.FIBERS else Mode.ROUNDS for name in kernels
        }
        return replace(self, kernels={**self.kernels, **cut})

    def of(self, kernel: str) -> Mode:
        """The mode in which a name is launched."""
        return self.kernels.get(kernel, self.unknown)


def modes(found: Sequence[Declaration]) -> Modes:
    """Decide for every kernel among the declarations of all files of a submission."""
    waiting = _reaching(found, [d for d in found if _waits(d)])
    values = _names_used_as_values(found)
    everything = any(_is_hidden(d, values) for d in waiting) or any(_pastes(d) for d in found)
    has_waiting_class = any(d.kind is Kind.CLASS for d in waiting)
    waiting_names = _names(waiting)
    indexing_names = _names(_reaching(found, _readers_of_index(found)))
    kernels: dict[str, Mode] = {}
    for kernel in (d for d in found if d.is_kernel and d.kind is not Kind.CLASS):
        is_generic = kernel.has("template")
        if everything or kernel.names & waiting_names or (is_generic and has_waiting_class):
            mode = Mode.FIBERS
        elif kernel.mentions & indexing_names:
            mode = Mode.LOOP_WITH_INDEX
        else:
            mode = Mode.LOOP
        for name in kernel.names:
            kernels[name] = _stricter(mode, kernels.get(name, Mode.LOOP))
    loop = Mode.LOOP_WITH_INDEX if indexing_names else Mode.LOOP
    unknown = Mode.FIBERS if waiting else loop
    # A cooperative group reads it for the kernel that holds the group.
    keeps_index = bool(indexing_names) or any("cooperative_groups" in d.mentions for d in found)
    return Modes(
        kernels=kernels,
        unknown=unknown,
        keeps_index=keeps_index,
        waiting=_names(_waiting_on_device(found)),
        indexing=indexing_names,
        is_hidden=everything,
    )


def waiting_functions(found: Sequence[Declaration]) -> list[Declaration]:
    """Everything on the device that may wait, without the kernels and the macros."""
    return [d for d in _waiting_on_device(found) if not d.is_kernel and d.kind is not Kind.MACRO]


def _waiting_on_device(found: Sequence[Declaration]) -> list[Declaration]:
    marks = _names(d for d in found if d.kind is Kind.MACRO) | {"__device__", "__global__"}
    on_device = [d for d in found if d.kind not in _CALLABLE or _may_be_for_device(d, marks)]
    return _reaching(on_device, [d for d in on_device if _waits(d)])


def _may_be_for_device(function: Declaration, marks: frozenset[str]) -> bool:
    return not marks.isdisjoint(re.findall(IDENTIFIER, function.head))


def is_waiting(word: str) -> bool:
    """Whether it is the name of something that waits for other threads."""
    return _WAITING.fullmatch(word) is not None


def spins(declaration: Declaration) -> bool:
    """Whether a loop in it waits for memory to change."""
    text = declaration.source.masked[declaration.start : declaration.end]
    return _SPIN.search(text) is not None


def all_as_fibers(found: Sequence[Declaration]) -> Modes:
    """Every kernel as if it waited: each thread then has an identity of its own at any moment."""
    names = _names([d for d in found if d.is_kernel and d.kind is not Kind.CLASS])
    return Modes(kernels=dict.fromkeys(names, Mode.FIBERS), unknown=Mode.FIBERS, keeps_index=True)


def _stricter(a: Mode, b: Mode) -> Mode:
    order = list(Mode)
    return max(a, b, key=order.index)


def _waits(declaration: Declaration) -> bool:
    return any(map(is_waiting, declaration.mentions)) or spins(declaration)


def _pastes(declaration: Declaration) -> bool:
    """Whether a macro builds a name that may turn out to be a barrier's."""
    text = declaration.source.masked[declaration.start : declaration.end]
    return declaration.kind is Kind.MACRO and _PASTED.search(text) is not None


def _names(declarations: Iterable[Declaration]) -> frozenset[str]:
    return frozenset().union(*(d.names for d in declarations))


def _reaching(found: Sequence[Declaration], seeds: Sequence[Declaration]) -> list[Declaration]:
    """The seeds, and all that mention their names, and so on."""
    mentioning: dict[str, list[Declaration]] = defaultdict(list)
    for declaration in found:
        for word in declaration.mentions:
            mentioning[word].append(declaration)
    reached = dict.fromkeys(seeds)
    pending = list(seeds)
    while pending:
        for name in pending.pop().names:
            for declaration in mentioning.pop(name, ()):
                if declaration not in reached:
                    reached[declaration] = None
                    pending.append(declaration)
    return list(reached)


def _is_hidden(waiting: Declaration, values: frozenset[str]) -> bool:
    """Whether a kernel may get to it without mentioning its name."""
    if waiting.kind is Kind.MACRO or waiting.is_kernel:
        return False
    if not waiting.names or {"virtual", "override"} & waiting.mentions:
        return True
    if waiting.kind is Kind.FUNCTION:
        if waiting.has("__device__"):
            return bool(waiting.names & values)
        # Host code: only a lambda in it can run on the device.
        return "__device__" in waiting.mentions and _waits(waiting)
    return False


def _names_used_as_values(found: Sequence[Declaration]) -> frozenset[str]:
    """Names that stand somewhere without being called."""
    sources = {d.source.path: d.source for d in found}
    return frozenset(name for s in sources.values() for name in _NOT_CALLED.findall(s.masked))


def _readers_of_index(found: Sequence[Declaration]) -> list[Declaration]:
    """Functions and classes, not kernels, that read `threadIdx`, directly or through a macro."""
    macros = [d for d in found if d.kind is Kind.MACRO]
    reading = _reaching(macros, [d for d in macros if "threadIdx" in d.mentions])
    words = _names(reading) | {"threadIdx"}
    others = (Kind.FUNCTION, Kind.CLASS, Kind.OTHER)
    return [d for d in found if d.kind in others and not d.is_kernel and d.mentions & words]
