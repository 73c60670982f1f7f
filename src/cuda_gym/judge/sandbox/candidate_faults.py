"""What is the submission's fault, and asks the judge for more than to tell it."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence

from cuda_gym.errors import AgentError, CandidateError, Refused, WrongOutput
from cuda_gym.judge.sandbox.code_from_outside import refuse_closed_code
from cuda_gym.judge.sandbox.device_faults import REMEDY, lost_device
from cuda_gym.judge.sandbox.messages import CodeRange, Ended

__all__ = [
    "CandidateCrash",
    "DeviceStopped",
    "FoundByCheck",
    "NoMemoryLeft",
    "WrittenOver",
    "describe_end",
    "failure",
    "signal_name",
]

_FAULT_EXIT = 139
"""The runtime's fault handler writes one line and leaves with this code."""
_MOST_TOLD = 8192
"""Characters of a message for the agent."""


class CandidateCrash(CandidateError):
    """The process is gone: a fault of the processor, a signal, or an exit of its own."""


class DeviceStopped(CandidateError):
    """The device stopped a kernel; nothing more can be run in that process."""

    def __init__(self, fault: str) -> None:
        which_line = "verify(check='memory') tells which line, where a checker is installed."
        no_kernel = f"Hardly a kernel does that; the GPU or its driver may fail: {REMEDY}"
        super().__init__(
            f"The GPU stopped a kernel of the submission: {fault}. "
            f"{no_kernel if lost_device(fault) else which_line}"
        )


class NoMemoryLeft(CandidateError):
    """Memory was lacking in the submission's process; whoever holds it has to be found out."""


class WrittenOver(WrongOutput):
    """An output was written over by a later call, though it was still held."""


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


def describe_end(end: Ended | None, printed: str, closed: Sequence[CodeRange]) -> str:
    """How a process ended that should have answered: by a fault, a signal, or by itself.

    Args:
        end: None where it is still there, and has only closed its channel.
        printed: By it.
        closed: The code that it may not run.

    Raises:
        Refused: it ran some of that.
    """
    lines = printed.splitlines()
    if end is not None and end.exit_code == _FAULT_EXIT and lines:
        refuse_closed_code(lines[-1], closed)
        return f"The submission crashed: {lines[-1].strip()}."
    if end is not None and end.signal is not None:
        return f"The submission crashed with {signal_name(end.signal)}."
    code = "unknown" if end is None else end.exit_code
    return f"The submission ended its process (exit code {code}) before it answered."


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
    "memory": NoMemoryLeft,
    "again": WrittenOver,
}
