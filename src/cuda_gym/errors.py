"""Every error, by whose fault it is.

    CudaGymError
    ├── AgentError               becomes the agent's next observation
    │   ├── BadAction            text that is no tool call, or a call whose arguments do not fit
    │   ├── WorkspaceError       a path that is outside, fixed, missing or no ordinary file
    │   ├── CompileError         the compiler said no
    │   ├── UnsupportedOnDevice  right CUDA, but not on this device
    │   ├── WrongOutput          ran to the end with a wrong value or form
    │   ├── CandidateError       the submission crashed, raised, or broke the contract while running
    │   ├── CandidateTimeout     the submission missed its deadline
    │   └── Refused              a hack, with the fact that was found
    ├── TaskError                the task is skipped
    │   ├── UnknownTask          no task, suite or file of that name
    │   ├── BadTask              the file is no task in KernelBench's format
    │   └── NotAdmitted          the task cannot be judged fairly
    ├── UnknownAgent             no agent of that name, or none for this task
    ├── RosterError              a list of models that cannot be used
    ├── ModelError               a language model gave no answer
    │   ├── ModelUnavailable     nobody answers there, or not any more, after all repetitions
    │   ├── ModelRefused         the endpoint said no: a key, a name, a request that it does not take
    │   ├── ContextExceeded      the prompt is longer than the model reads
    │   └── BudgetExceeded       the call would cost more, or last longer, than it may
    └── MachineError             the episode is void
        ├── MissingTool          no compiler, no toolkit, no library
        ├── WorkerLost           a process of ours died or fell silent
        ├── DeviceLost           the device or its driver has failed, whatever was run there
        ├── OutOfDeviceMemory    no memory left on the device for what the judge needs
        └── StorageError         a full disk, a folder without permission, a workspace in use

A message says the fact, the value, and the way out. Catch only what you can answer.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuda_gym.core.findings import Diagnostic
    from cuda_gym.models.model import Usage

__all__ = [
    "AgentError",
    "BadAction",
    "BadTask",
    "BudgetExceeded",
    "CandidateError",
    "CandidateTimeout",
    "CompileError",
    "ContextExceeded",
    "CudaGymError",
    "DeviceLost",
    "MachineError",
    "MissingTool",
    "ModelError",
    "ModelRefused",
    "ModelUnavailable",
    "NotAdmitted",
    "OutOfDeviceMemory",
    "Refused",
    "RosterError",
    "StorageError",
    "TaskError",
    "UnknownAgent",
    "UnknownTask",
    "UnsupportedOnDevice",
    "WorkerLost",
    "WorkspaceError",
    "WrongOutput",
    "did_you_mean",
]


class CudaGymError(Exception):
    """The root of the tree."""


class AgentError(CudaGymError):
    """The agent's doing: it is told, and may try again."""


class BadAction(AgentError):
    """The text is no tool call, or the call's arguments do not fit."""


class WorkspaceError(AgentError):
    """The path is outside the workspace, fixed, missing, or no ordinary file."""


class CompileError(AgentError):
    """The compiler said no."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        """Errors first, in the compiler's order."""


class UnsupportedOnDevice(AgentError):
    """Right CUDA that this device cannot run."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        """One for each place, with file and line."""


class WrongOutput(AgentError):
    """The submission ran to the end; a value, or the form of an output, is wrong."""


class CandidateError(AgentError):
    """The submission crashed, raised, or broke the contract while it ran."""


class CandidateTimeout(AgentError):
    """The submission missed its deadline and was stopped."""


class Refused(AgentError):
    """A hack; the message is the fact that was found."""


class TaskError(CudaGymError):
    """The task's doing: it is skipped."""


class UnknownTask(TaskError):
    """There is no task, suite or file of that name."""


class BadTask(TaskError):
    """The file is no task in KernelBench's format."""


class NotAdmitted(TaskError):
    """The task cannot be judged fairly, for the reason given."""


class UnknownAgent(CudaGymError):
    """There is no agent of that name, or it does not play this task."""


class RosterError(CudaGymError):
    """A list of models cannot be used."""


class ModelError(CudaGymError):
    """A language model gave no answer."""

    usage: Usage | None = None
    """What the call used nevertheless; None where nobody says it."""
    latency_s: float | None = None
    """How long the call took, where that is modelled; None leaves it to whoever measures."""
    may_have_used_more: bool = False
    """Whether the call was cut off while the model was at work: then its usage is the least that it took."""


class ModelUnavailable(ModelError):
    """Nobody answers there, or not any more, after all repetitions."""


class ModelRefused(ModelError):
    """The endpoint said no: a key, a name, a request that it does not take."""


class ContextExceeded(ModelError):
    """The prompt is longer than the model reads."""


class BudgetExceeded(ModelError):
    """The call would cost more, or last longer, than it may."""


class MachineError(CudaGymError):
    """The machine's doing: nothing is scored, the episode is void."""


class MissingTool(MachineError):
    """A compiler, toolkit or library is not there; the message says how to get it."""


class WorkerLost(MachineError):
    """A trusted process of ours died or fell silent."""


class DeviceLost(MachineError):
    """The device or its driver has failed: there is nothing that a task or a submission could have done."""


class OutOfDeviceMemory(MachineError):
    """The device has no memory left for what the judge needs; a submission may have taken it."""


class StorageError(MachineError):
    """A full disk, a folder without permission, or a workspace in use."""


def did_you_mean(
    name: str, names: Iterable[str], *, however_far: bool = False, most: int = 3
) -> str:
    """A question with the nearest names, nearest first; or nothing.

    Args:
        name: What was asked for.
        names: What there is, perhaps as `suite/name`: the part behind the last `/` counts too.
        however_far: Whether names are told that are not like it at all.
        most: How many are told.

    >>> did_you_mean("softmx", ["core/row_sum", "core/softmax"])
    " Did you mean 'core/softmax'?"
    """
    asked = name[:200]

    def likeness(other: str) -> float:
        pairs = ((asked, other), (asked.rpartition("/")[2], other.rpartition("/")[2]))
        return max(difflib.SequenceMatcher(a=a, b=b).ratio() for a, b in pairs)

    ranked = sorted(((likeness(other), other) for other in names), key=lambda pair: -pair[0])
    near = [repr(other) for score, other in ranked[:most] if however_far or score >= 0.6]
    *others, last = near or [""]
    return f" Did you mean {', '.join(others)}{' or ' if others else ''}{last}?" if last else ""
