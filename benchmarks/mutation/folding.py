"""Launchers that know the size they are tried at: a parameter is overwritten with its usual value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from benchmarks.mutation.edits import Edit

from cuda_gym.judge.toolchains.cuda_source import Source, closing

__all__ = ["fold_constants"]

_LAUNCHER = re.compile(r'extern "C" void (\w+)\(')


def fold_constants(source: Source, sizes: Mapping[str, Mapping[str, int]]) -> Iterator[Edit]:
    """One edit for each size that a launcher is given.

    Args:
        source: A file of a right kernel.
        sizes: For each launcher its integer parameters and their values at the task's own shape.
    """
    for match in _LAUNCHER.finditer(source.text):
        body = source.code.find("{", closing(source.code, match.end() - 1))
        for name, value in sizes.get(match[1], {}).items():
            yield Edit(
                operator="constant folding",
                start=body,
                end=body + 1,
                text=f"{{ {name} = {value};",
            )
