"""How much of a GPU's memory one judgement may take, and what it is spent on.

Every judgement begins with what it cannot do without: one content, one draw with its gold, a context for
each process. What is beyond that is chosen: contents of a block, calls of a baseline, draws made ahead. These
are as many as fit here, so that a task of 4 GB is judged within 24.

Covered: what the judge's own processes hold, and one output that a submission allocates. Not covered: what
else a submission allocates; the host's memory.
"""

from __future__ import annotations

__all__ = [
    "AHEAD_BYTES",
    "CONTENTS_BYTES",
    "COPIES",
    "LARGE_BYTES",
    "OUTPUTS_BESIDE",
    "PROCESSES_BYTES",
    "contents_of_card",
    "judgement_bytes",
]

CONTENTS_BYTES = 21 << 30
"""In a race, for contents with all that is made of them."""
PROCESSES_BYTES = 3 << 30
"""Contexts of a reference, a candidate and one that waits or leaves; and pieces of a comparison."""
AHEAD_BYTES = 12 << 30
"""For calls that are timed together before a race, or draws that are made ahead."""
LARGE_BYTES = 1 << 30
"""Of a run of the reference: one that holds more leaves nothing in a cache for the next phase."""
COPIES = 2
"""Of each content of a block: inputs are handed out and kept to be compared with, for nothing seals them;
outputs come back, and torch.compile's are kept to compare them with."""
OUTPUTS_BESIDE = 4
"""As many outputs of one call are there beside the contents: the candidate's, that of one that leaves, what a hidden
draw expects, and one that is being copied. While that draw is made, its gold."""
_CARD = 6
"""Part of a smaller card for contents: a few judges may work beside each other."""


def contents_of_card(memory_bytes: int) -> int:
    """What contents may take of a card, with all that is made of them.

    >>> contents_of_card(24 << 30) >> 30
    4
    """
    return min(CONTENTS_BYTES, memory_bytes // _CARD)


def judgement_bytes(*, input_bytes: int, output_bytes: int, contents: int) -> int:
    """About what a race holds at most, all processes together, with so many contents in a block.

    Args:
        input_bytes: Of one call.
        output_bytes: Of one call.
        contents: Of a block.

    >>> judgement_bytes(input_bytes=2 << 30, output_bytes=2 << 30, contents=1) / 2**30
    19.0
    """
    made = COPIES * contents * (input_bytes + output_bytes)
    return made + OUTPUTS_BESIDE * output_bytes + PROCESSES_BYTES
