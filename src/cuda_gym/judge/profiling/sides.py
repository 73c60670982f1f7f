"""The two sides of a race, as whoever times them sees them; `sandbox/blocks.py` has the real ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Block", "CandidateSide", "ReferenceSide", "Sealed"]


@dataclass(frozen=True, kw_only=True)
class Block:
    """What one side's calls took, in microseconds."""

    call_us: tuple[float, ...]
    """Of each call, by the device's time; claimed, where it is a submission's."""
    host_us: tuple[float, ...]
    """How long each call kept the host."""
    num_ungated: int
    """Calls that measure the host, for their gate opened before it was done."""
    wall_us: float
    """Of the whole block by our own clock; 0 where nobody looked."""


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """A block that our own clock has timed."""

    wall_us: float
    """From the moment in which its inputs could be read, to the one in which its outputs were there."""
    was_queued: bool
    """Whether the host had no part in it."""


class ReferenceSide(Protocol):
    """The compiled reference in its own process."""

    def new_contents(self, count: int, *, spare: bool = False, sealed: bool = False) -> int:
        """Make `count` inputs that nobody has seen, for the next block of each side.

        Args:
            count: for calls that are timed.
            spare: whether there is to be one more, for calls that are dropped.
            sealed: whether nobody is to read them before `run_sealed`.

        Returns:
            Bytes of the inputs and outputs of one call.
        """
        ...

    def run(self, count: int, *, dropped: int = 0, gate_us: float = 0.0) -> Block:
        """Call `dropped` times on the spare content, then on the first `count` of the others."""
        ...

    def empty_us(self, count: int, *, queued: bool) -> float:
        """What the latest sealed block takes without its calls; its contents are worth nothing afterwards.

        Args:
            count: Of the calls.
            queued: Whether its gate opens when all is queued, or at once.
        """
        ...

    def check(self, count: int) -> None:
        """Compare the candidate's outputs for the first `count` contents that are not spare.

        Raises:
            WrongOutput: one is wrong.
        """
        ...


class CandidateSide(Protocol):
    """The submission in its own process."""

    def run(
        self, count: int, *, dropped: int = 0, gate_us: float = 0.0, dry: bool = False
    ) -> Block:
        """Call `dropped` times on the spare content, then on the first `count` of the others.

        Args:
            count: how many are timed.
            dropped: how many are not.
            gate_us: how long the device waits before each call.
            dry: let a trusted process go through the motions without calling anything.
        """
        ...

    def run_sealed(self, count: int, *, queue_s: float) -> Sealed:
        """Call on each of `count` sealed contents, all of them behind one gate.

        Args:
            count: how many.
            queue_s: how long the host may take to hand them over before the gate opens.
        """
        ...
