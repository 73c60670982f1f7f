"""What is the submission's fault, and asks the judge for more than to tell it."""

from __future__ import annotations

from cuda_gym.errors import CandidateError

__all__ = ["CandidateCrash", "DeviceStopped", "FoundByCheck"]


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
