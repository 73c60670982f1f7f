"""Which of all possible mutants are measured: few of one operator in one kernel, all kernels in turns."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Final

from benchmarks.mutation.edits import Edit, Mutant, apply_edit
from benchmarks.mutation.folding import fold_constants
from benchmarks.mutation.operators import BY_CONSTRUCTION, OPERATORS, kind_of
from benchmarks.mutation.right_kernels import RightKernel

from cuda_gym.judge.toolchains.cuda_source import Source

__all__ = ["choose", "mutants_of"]

_MOST: Final = 1
"""Of one operator in one kernel, where no other number is given."""
_MOST_OF: Final[Mapping[str, int]] = {
    "dropped barrier": 4,
    "race on shared memory": 4,
    "skipped bias": 2,
    "wrong epsilon": 2,
    "reduced precision": 2,
    "float16 accumulation": 2,
}
"""Of operators that fit few kernels, and of those whose share is asked for apart."""


def mutants_of(kernel: RightKernel, sizes: Mapping[str, Mapping[str, int]]) -> Iterator[Mutant]:
    """Every mutant of a right kernel.

    Args:
        kernel: What is changed.
        sizes: The integers that its launchers are given at the task's own shape.
    """
    for path, text in kernel.files.items():
        if not path.endswith(".cu"):
            continue
        source = Source(path, text)
        seen: set[str] = {text}
        for edit in (*_edits(source), *fold_constants(source, sizes)):
            mutant = _mutant(kernel, source, edit)
            if mutant.text not in seen:
                seen.add(mutant.text)
                yield mutant


def choose(mutants: Iterable[Mutant], seed: int) -> list[Mutant]:
    """A fair share of mutants: the first ones are spread over all operators and all kernels."""
    by_place: dict[tuple[str, str], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        by_place[mutant.operator, mutant.kernel].append(mutant)
    rows: dict[str, list[Mutant]] = defaultdict(list)
    for (operator, kernel), found in sorted(by_place.items()):
        chosen = random.Random(f"{seed} {operator} {kernel}").sample(found, len(found))
        rows[operator] += chosen[: _MOST_OF.get(operator, _MOST)]
    for operator, row in rows.items():
        random.Random(f"{seed} {operator}").shuffle(row)
    turns = zip_longest(*(rows[operator] for operator in sorted(rows)))
    return [mutant for turn in turns for mutant in turn if mutant is not None]


def _edits(source: Source) -> Iterator[Edit]:
    for operator in OPERATORS:
        yield from operator(source)


def _mutant(kernel: RightKernel, source: Source, edit: Edit) -> Mutant:
    text = apply_edit(source.text, edit)
    start = source.text.rfind("\n", 0, edit.start) + 1
    stop = source.text.find("\n", edit.end)
    after = source.text[start : edit.start] + edit.text + source.text[edit.end : stop]
    return Mutant(
        kernel=kernel.name,
        operator=edit.operator,
        kind=kind_of(edit.operator),
        path=source.path,
        line=source.line(edit.start),
        before=" ".join(source.text[start:stop].split()),
        after=" ".join(after.split()),
        text=text,
        is_fault_by_construction=edit.operator in BY_CONSTRUCTION,
    )
