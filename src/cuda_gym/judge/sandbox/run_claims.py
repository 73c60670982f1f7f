"""What a candidate's process says of its calls, as far as it is possible at all.

Covered: other numbers of calls than there were, negative ones, and numbers that no float holds: whoever
calculates with them would fail, and that is the judge. Not covered: a lie that is possible; our own clock
bounds what it gains.
"""

from __future__ import annotations

from cuda_gym.errors import CandidateError
from cuda_gym.judge.sandbox.messages import Loaded, Ran

__all__ = ["impossible", "require_possible_load", "require_possible_run"]

_MOST = 1 << 53
"""Nanoseconds, or launches: more than a hundred days, and all integers below it are floats."""


def impossible(claim: str) -> CandidateError:
    """What is raised for a claim that cannot be."""
    return CandidateError(f"The submission's process claims {claim}, which cannot be.")


def require_possible_run(ran: Ran, num_calls: int) -> None:
    """Look at what is claimed for a run.

    Args:
        ran: What the candidate says.
        num_calls: How often it was told to call.

    Raises:
        CandidateError: with the claim that cannot be.
    """
    for what, values in (("times", ran.call_ns), ("times of the host", ran.host_ns)):
        if len(values) != num_calls:
            raise impossible(f"{len(values)} {what} for {num_calls} calls")
        for value in values:
            _require(f"{what}, one of them", value, _MOST)
    _require("calls without a gate:", ran.num_ungated, num_calls)
    _require("launches:", ran.launches, _MOST)
    _require("library calls:", ran.library_calls, _MOST)


def require_possible_load(loaded: Loaded) -> None:
    """Look at what is claimed for a load.

    Raises:
        CandidateError: with the claim that cannot be.
    """
    _require("nanoseconds of prepare():", loaded.prepare_ns or 0, _MOST)


def _require(what: str, value: int, most: int) -> None:
    if not 0 <= value <= most:
        sign, digits = "-" if value < 0 else "", value.bit_length() * 3 // 10
        told = str(value) if digits < 20 else f"{sign}10^{digits}"
        raise impossible(f"{what} {told}")
