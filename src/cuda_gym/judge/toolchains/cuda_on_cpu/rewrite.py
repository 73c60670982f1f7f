"""CUDA C++ to C++: only what the C++ grammar cannot take is rewritten, and every line stays a line.

    __global__ void k(float* x) { ... }     gets its indices as constants (kernels.py)
    k<<<grid, block, bytes, stream>>>(x)    becomes a call of the runtime (launches.py)
    extern __shared__ float s[];            becomes a pointer to dynamic memory (dynamic_shared.py)
    __device__ float f(float x) { ... }     becomes static, as nvcc keeps it to its file (linkage.py)
    static __shared__, __noinline__         lose what the host compiler would stumble over

Covered: templates, macros, several files with their local headers, pointers to kernels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuda_gym.judge.toolchains.cuda_declarations import Declaration, Kind, declarations
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Mode, Modes, all_as_fibers, modes
from cuda_gym.judge.toolchains.cuda_on_cpu.cutting import Change
from cuda_gym.judge.toolchains.cuda_on_cpu.dynamic_shared import (
    pointers_at_namespace_scope,
    rewrite_shared,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.fission import fission
from cuda_gym.judge.toolchains.cuda_on_cpu.inlining import with_inlined_waits
from cuda_gym.judge.toolchains.cuda_on_cpu.kernel_values import KernelNames, kernel_names
from cuda_gym.judge.toolchains.cuda_on_cpu.kernels import (
    KernelHead,
    kernel_heads,
    kernel_words,
    rewrite_kernels,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.launches import rewrite_launches
from cuda_gym.judge.toolchains.cuda_on_cpu.linkage import (
    Linkage,
    linkage_in,
    rewrite_linkage,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.refusals import (
    refuse_unsupported,
    refuse_waiting_kernels,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.shared_variables import (
    with_margins,
    with_named_variables,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.unset_variables import with_values
from cuda_gym.judge.toolchains.cuda_on_cpu.unwritten import AS_IT_IS, arrays_written_first
from cuda_gym.judge.toolchains.cuda_source import Edits, Rewritten, Source

__all__ = ["Program", "rewrite"]


@dataclass(frozen=True, kw_only=True)
class Program:
    """All files of a submission, ready for a host compiler."""

    files: Mapping[str, Rewritten]
    """By path inside the workspace."""
    kernels: Mapping[str, Mode]
    """Each `__global__` function, and how its threads are run."""
    reaches: Mapping[str, frozenset[str]]
    """The names that each kernel mentions, and those that these mention, and so on."""
    keeps_index: bool
    """Whether functions other than kernels read `threadIdx`."""

    @property
    def is_cut(self) -> bool:
        """Whether kernels with barriers or stride loops are run as phases."""
        return not {Mode.PHASES, Mode.ROUNDS}.isdisjoint(self.kernels.values())


def rewrite(
    files: Mapping[str, str],
    *,
    is_submission: bool = True,
    checking: bool = False,
    cuts: bool = True,
) -> Program:
    """Rewrite `.cu` files and the headers that they include.

    Args:
        files: The texts, by path.
        is_submission: Whether what is named but missing here is refused at once, as are includes of
            other files. A program of somebody's own may name it in a header that it hardly uses.
        checking: Whether it is for the checking build: every kernel runs as fibers, shared variables
            lie between margins, and what has no value where it is declared holds a large one.
        cuts: Whether kernels with barriers may be cut into phases; `fission.py` has the conditions.

    Raises:
        UnsupportedOnDevice: for what the cpu device does not have.
        CompileError: where a launch cannot be read.
    """
    sources = [Source(path, text) for path, text in files.items()]
    words = kernel_words(sources)
    found = _declared(sources, words)
    if is_submission:
        refuse_unsupported(sources, found)
    else:
        refuse_waiting_kernels(found)
    if checking:
        filled = [with_values(source, words) for source in sources]
        sources = [with_named_variables(with_margins(source)) for source in filled]
        found = _declared(sources, words)
    elif cuts:
        sources = [with_inlined_waits(source, found) for source in sources]
        found = _declared(sources, words)
    known = _Known.of(sources, found, words, checking=checking, cuts=cuts and not checking)
    return Program(
        files={source.path: known.rewritten(source) for source in sources},
        kernels={name: known.decided.of(name) for name in known.kernels},
        reaches=_reached_names(found, known.kernels),
        keeps_index=known.decided.keeps_index,
    )


def _declared(sources: Sequence[Source], words: frozenset[str]) -> list[Declaration]:
    return [d for source in sources for d in declarations(source, words)]


@dataclass(frozen=True, kw_only=True)
class _Known:
    """What must be known of all files before one of them is rewritten."""

    found: Sequence[Declaration]
    heads: Mapping[str, Sequence[KernelHead]]
    """By path."""
    kernels: Mapping[str, Declaration]
    names: KernelNames
    decided: Modes
    phases: Mapping[str, Sequence[Change]]
    """By kernel."""
    pointers: Mapping[str, str]
    linkage: Linkage

    @classmethod
    def of(
        cls,
        sources: Sequence[Source],
        found: Sequence[Declaration],
        words: frozenset[str],
        *,
        checking: bool,
        cuts: bool,
    ) -> _Known:
        decided = all_as_fibers(found) if checking else modes(found)
        heads = {source.path: list(kernel_heads(source, words)) for source in sources}
        names = kernel_names(sources, found, [h.names for own in heads.values() for h in own])
        kernels = _kernels(found, heads)
        phases = fission(found, kernels, names.values, decided) if cuts else {}
        return cls(
            found=found,
            heads=heads,
            kernels=kernels,
            names=names,
            decided=decided.with_phases(phases),
            phases=phases,
            pointers=pointers_at_namespace_scope(found),
            linkage=linkage_in(found),
        )

    def rewritten(self, source: Source) -> Rewritten:
        """One file."""
        own = [d for d in self.found if d.source is source]
        kernels = {name: kernel for name, kernel in self.kernels.items() if kernel in own}
        cut = {
            kernels[name].body: self.phases[name] for name in kernels.keys() & self.phases.keys()
        }
        edits = Edits(source)
        rewrite_kernels(source, self.heads[source.path], self.names.values, edits, cut=cut)
        rewrite_linkage(own, self.linkage, edits)
        rewrite_shared(source, own, self.pointers, edits)
        rewrite_launches(source, self.decided, self.names, edits)
        for match in re.finditer(r"\b__noinline__\b", source.masked):
            edits.replace(*match.span(), "__attribute__((noinline))")
        for offset in arrays_written_first(source):
            edits.insert(offset, AS_IT_IS)
        for change in (change for changes in cut.values() for change in changes):
            edits.replace(change.start, change.end, change.text)
        return edits.apply()


def _kernels(
    found: Sequence[Declaration], heads: Mapping[str, Sequence[KernelHead]]
) -> dict[str, Declaration]:
    """The kernels with a body, by name; those that a macro defines are not known by theirs."""
    kernels: dict[str, Declaration] = {}
    for declaration in found:
        if declaration.is_kernel and declaration.kind is Kind.FUNCTION:
            for head in heads[declaration.source.path]:
                if declaration.start <= head.start < declaration.end:
                    kernels |= dict.fromkeys(head.names, declaration)
    return kernels


def _reached_names(
    found: Sequence[Declaration], kernels: Mapping[str, Declaration]
) -> dict[str, frozenset[str]]:
    mentions: dict[str, frozenset[str]] = {}
    for declaration in found:
        for name in declaration.names:
            mentions[name] = mentions.get(name, frozenset()) | declaration.mentions
    reaches = {}
    for name, kernel in kernels.items():
        reached: set[str] = set()
        pending = set(kernel.mentions)
        while pending:
            word = pending.pop()
            reached.add(word)
            pending |= mentions.get(word, frozenset()) - reached
        reaches[name] = frozenset(reached & mentions.keys())
    return reaches
