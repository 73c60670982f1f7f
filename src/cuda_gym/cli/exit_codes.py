"""What a process that ran a verb tells the shell."""

from __future__ import annotations

from enum import IntEnum, unique

from cuda_gym.core.episode import Episode
from cuda_gym.core.findings import Outcome
from cuda_gym.core.verdict import Verdict
from cuda_gym.errors import AgentError, CudaGymError, RosterError, TaskError, UnknownAgent

__all__ = ["ExitCode", "UsageError", "code_of_episodes", "code_of_error", "code_of_verdict"]


class UsageError(CudaGymError):
    """What was typed makes no sense; the message says what would."""


@unique
class ExitCode(IntEnum):
    """The exit codes of every verb."""

    OK = 0
    """Done; where something was judged, it is correct."""
    NOT_CORRECT = 1
    """The submission, or that of some episode, is not correct."""
    USAGE = 2
    """An option, a name of an agent, device or reward, a folder or a roster makes no sense."""
    MACHINE = 3
    """The machine failed, an episode is void, or there is nothing to judge with."""
    TASK = 4
    """There is no such task, or it cannot be judged."""
    INTERRUPTED = 130
    """Ctrl-C, or SIGTERM; all processes were ended."""
    NO_READER = 141
    """Whoever read the output went away before its end."""


def code_of_error(error: CudaGymError) -> ExitCode:
    """By whose fault an error is."""
    if isinstance(error, TaskError):
        return ExitCode.TASK
    if isinstance(error, AgentError):
        return ExitCode.NOT_CORRECT
    if isinstance(error, (UsageError, UnknownAgent, RosterError)):
        return ExitCode.USAGE
    return ExitCode.MACHINE


def code_of_verdict(verdict: Verdict | None) -> ExitCode:
    """By the outcome; no Verdict is no correct one."""
    if verdict is None:
        return ExitCode.NOT_CORRECT
    if verdict.outcome is Outcome.MACHINE_ERROR:
        return ExitCode.MACHINE
    return ExitCode.OK if verdict.outcome is Outcome.CORRECT else ExitCode.NOT_CORRECT


def code_of_episodes(episodes: tuple[Episode, ...]) -> ExitCode:
    """The largest of all: one that is void outweighs one that is wrong."""
    codes = [
        ExitCode.MACHINE if episode.void is not None else code_of_verdict(episode.verdict)
        for episode in episodes
    ]
    return max(codes, default=ExitCode.OK)
