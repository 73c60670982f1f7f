"""What goes between an agent and an environment, from reset to settlement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, unique

from cuda_gym.core.verdict import Verdict

__all__ = ["Action", "Episode", "Observation", "Stage", "Turn"]


@unique
class Stage(Enum):
    """How far an episode, or a judgement, has come."""

    START = "start"
    """Nothing was tried yet."""
    EDITED = "edited"
    """Files were written since the last compile."""
    COMPILED = "compiled"
    """The latest files compile."""
    VERIFIED = "verified"
    """The latest files are right on hidden draws."""
    TIMED = "timed"
    """The latest files have a Verdict."""
    SETTLED = "settled"
    """The episode is over and paid."""


@dataclass(frozen=True)
class Action:
    """What an agent says: text with one tool call, or with files and an optional call."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What an agent is told after an action."""

    text: str
    stage: Stage
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Finite numbers by name; a name is missing where there is nothing to say."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One action and what came of it."""

    action: Action
    observation: Observation
    reward: float


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One game, from reset to settlement."""

    task_id: str
    device: str
    agent: str
    """Name of the agent."""
    first: Observation
    """What reset showed."""
    turns: tuple[Turn, ...]
    verdict: Verdict | None
    """The final one; None where nothing was ever submitted, or the episode is void."""
    void: str | None = None
    """Why a trainer must drop this episode; None where it counts."""
    workspace: str | None = None
    """Folder with the files, where they were kept."""

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)

    @property
    def total_reward(self) -> float:
        """The return, undiscounted: exactly phi(final Verdict) - phi(none)."""
        return math.fsum(turn.reward for turn in self.turns)
