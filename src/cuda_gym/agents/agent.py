"""The interface of everything that acts."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from cuda_gym.core.episode import Action, Observation

__all__ = ["Agent"]


@runtime_checkable
class Agent(Protocol):
    """Whoever answers observations with actions. One agent plays one episode at a time."""

    @property
    def name(self) -> str:
        """How the agent is called in records and tables."""
        ...

    def reset(self, observation: Observation) -> None:
        """Begin an episode; forget the one before.

        Args:
            observation: What the environment shows first.
        """
        ...

    def act(self, observation: Observation) -> Action:
        """Answer the latest observation.

        Args:
            observation: The first time, the one that `reset` was given.
        """
        ...
