"""What is the submission's fault, and asks the judge for more than to tell it."""

from __future__ import annotations

import signal
from collections.abc import Mapping

from cuda_gym.errors import AgentError, CandidateError, Refused, WrongOutput

__all__ = ["CandidateCrash", "DeviceStopped", "FoundByCheck", "failure", "signal_name"]

_MOST_TOLD = 8192
"""Characters of a message for the agent."""


class CandidateCrash(CandidateError):
    """The process is gone: a fault of the processor, a signal, or an exit of its own."""


class DeviceStopped(CandidateError):
    """The device stopped a kernel; nothing more can be run in that process."""

    def __init__(self, fault: str) -> None:
        super().__init__(
            f"The GPU stopped a kernel of the submission: {fault}. "
            "verify(check='memory') tells which line, where a checker is installed."
        )


class FoundByCheck(CandidateError):
    """A checking build stopped a kernel; the message is what it found, a line of JSON each."""


def failure(kind: str, message: str) -> AgentError:
    """What a candidate has told of its failure, cut to what somebody would read.

    Args:
        kind: As `messages.Failed` has it.
        message: For the agent, or findings.
    """
    told = message if kind == "found" else message[:_MOST_TOLD] or "The submission failed."
    return _FAILURES.get(kind, CandidateError)(told)


def signal_name(number: int) -> str:
    """As `signal` names it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_FAILURES: Mapping[str, type[AgentError]] = {
    "wrong": WrongOutput,
    "refused": Refused,
    "found": FoundByCheck,
    "fault": DeviceStopped,
}
