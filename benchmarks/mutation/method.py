"""How the measurement was done, for the page: what a sceptical reader would ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.mutation.records import Record

__all__ = ["method"]

_DECISIONS: Final = """\
## How it was done

Decisions that move the shares, what they are, and whom they favour.

- **Who chose the faults.** The operators were written by the authors of the judge. Of one operator in one
  kernel few mutants are taken, by a seed, all kernels and operators in turns. On mutants of seed 0 the judge
  was tried before, and what it let pass was repaired; so seed 1 is measured. Operators are the same.
- **Fixed dimensions.** A constant that a task's constructor is given keeps its value for the oracle: a submission
  is made for one model. A mutant that is right at this size alone counts as equivalent, and is listed. The judge
  does not vary such sizes either, so this favours ours where a reader would call the mutant wrong.
- **The oracle's bound.** Equivalent is who errs at most 4 times as much as the right kernel ever does on such
  draws, and 2 units of roundoff, where its outputs are not the same bits. It is far below what any judge allows:
  lost digits that no user would notice are faults here, which disfavours ours and all others. The oracle
  has 90 s; where they do not suffice, `draws` in the list says how far it came.
- **Faults by construction.** Dropped barriers, races and unwritten sums count as faults though outputs on this
  device may be right: it runs threads in an order of its own. Rules that see nothing but outputs cannot find them
  here, and might on a GPU; the row *shown by outputs* leaves them out.
- **Half precision.** KernelBench's rule has 1e-2 for float16 and bfloat16, as restated here; CUDA Agent's has
  1e-2 for all. Rounding to half precision is no operator for kernels that are in half precision.
- **Rules of others** are restated as rules of comparison on a task's own inputs, run on `cpu`. What else these
  projects check (text, time, isolation) is not in it, and neither are the tasks that they use.
- **Deadlines.** A mutant that does not end in time is refused by each. Where it ended for a rule but missed a deadline
  of ours, ours is asked again: a busy machine must not count for it.
- **Once.** Each rule judges each mutant once, with fresh seeds where it has any; who passes by chance, passes.
"""


def method(records: Sequence[Record]) -> list[str]:
    """The section, with the versions of the judge that the records were made with."""
    versions = ", ".join(sorted({r.judge for r in records if r.judge})) or "unknown"
    text = f"- **Versions.** Records were made by judge {versions}."
    return [*_DECISIONS.splitlines(), text, ""]
