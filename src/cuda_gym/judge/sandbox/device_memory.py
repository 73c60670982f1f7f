"""Who holds the memory of a device? Most of it may be nobody's but the judge's and the task's.

A process cannot be kept from taking all memory of a GPU; it can be found out afterwards, for with it the
memory is free again.
"""

from __future__ import annotations

import contextlib

from cuda_gym.errors import CandidateError, MachineError, OutOfDeviceMemory, WorkerLost
from cuda_gym.judge.sandbox.open_reference import OpenReference
from cuda_gym.judge.sandbox.workers import CandidateWorker

__all__ = ["require_memory", "require_not_others"]

_LEAST_FREE = 0.05
"""Of a device: where less is free, somebody holds too much, and it is found out who."""
_MOST_HELD = 0.5
"""Of a device, by a submission; the judge's copies of inputs and outputs need the rest."""


def require_memory(
    reference: OpenReference,
    candidate: CandidateWorker | None,
    *,
    lacking: OutOfDeviceMemory | None = None,
) -> None:
    """Let pass a candidate that leaves enough memory. One that is suspected is ended.

    Args:
        reference: Asked for what is free.
        candidate: Whoever may hold the rest.
        lacking: What the judge has failed with already; None where it has not.

    Raises:
        CandidateError: most of the device's memory is free once the candidate is gone.
        MachineError: there is too little, and it was somebody else.
    """
    before = reference.probe()
    if before is None:
        if lacking is not None:
            raise lacking
        return
    if lacking is None and before.free >= _LEAST_FREE * before.total:
        return
    if candidate is not None:
        candidate.close()
        candidate.wait_until_gone()
        after = reference.probe()
        held = 0 if after is None else after.free - before.free
        if held >= _MOST_HELD * before.total:
            raise CandidateError(
                f"The submission held {held:,} of the device's {before.total:,} bytes of memory; at most "
                f"{_MOST_HELD:.0%} are its own, for the judge needs the rest. Allocate what a call "
                "needs, and no more."
            )
    raise lacking or MachineError(
        f"Only {before.free:,} of the device's {before.total:,} bytes of memory are free, and the "
        "submission does not hold the others. End what else uses the device."
    )


def require_not_others(reference: OpenReference, candidate: CandidateWorker | None) -> None:
    """Let pass who has said that there was no memory left, unless somebody else is seen to hold it.

    What a candidate says is a claim; how much is free is not. Only where that is nearly nothing, it is ended.

    Raises:
        MachineError: there is too little, and it was somebody else.
    """
    with contextlib.suppress(CandidateError, WorkerLost):
        require_memory(reference, candidate)
