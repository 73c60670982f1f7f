"""What it means that a submission is right in one build and far off in another one.

In the ordinary build a variable without a value holds a large negative number, in the checking build a large
positive one (`cuda_on_cpu/unset_variables`). Nothing else differs between them that outputs may depend on.

Covered: outputs that are off by a thousand times what is allowed: compilers round in another order, and that is
no bug. Not covered: what such a variable changes by less; values that a NaN takes no part in.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from cuda_gym.core.findings import DrawFindings, MemoryFinding, MemorySide
from cuda_gym.judge.toolchains.cuda_on_cpu.unset_variables import UnsetVariable, unset_variables
from cuda_gym.judge.toolchains.cuda_source import Source
from cuda_gym.judge.verification.conclusions import UNSET

__all__ = ["unset_findings"]

_FAR_OFF = 1000.0
_MOST_NAMED = 3


def unset_findings(files: Mapping[str, str], compared: DrawFindings) -> tuple[MemoryFinding, ...]:
    """One finding where outputs depend on what was never given a value.

    Args:
        files: The kernels.
        compared: The outputs of the checking build, of a submission that is right in the ordinary one.
    """
    ratio = compared.error_ratio
    if compared.passed or (ratio is not None and ratio < _FAR_OFF):
        return ()
    every = (v for path, text in sorted(files.items()) for v in unset_variables(Source(path, text)))
    unset = list(islice(every, _MOST_NAMED + 1))
    if not unset:
        return ()
    return (
        MemoryFinding(
            kind=UNSET,
            text=f"the output is wrong where {_named(unset)}, which has no value where it is declared, holds a "
            f"large number: {compared.reason}",
            kernel="",
            sides=tuple(
                MemorySide(does="declares", file=variable.file, line=variable.line)
                for variable in unset[:1]
                if len(unset) == 1
            ),
        ),
    )


def _named(unset: list[UnsetVariable]) -> str:
    """Which ones it may be, the first few."""
    names = list(dict.fromkeys(f"`{v.name}` ({v.file}:{v.line})" for v in unset[:_MOST_NAMED]))
    more = " or another one" if len(unset) > _MOST_NAMED else ""
    return " or ".join(names) + more
