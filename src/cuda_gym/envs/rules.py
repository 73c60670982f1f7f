"""The knobs of an episode."""

from __future__ import annotations

from dataclasses import dataclass

from cuda_gym.envs.brevity import MIN_CHARS
from cuda_gym.envs.reward import REWARDS
from cuda_gym.errors import did_you_mean

__all__ = ["Rules"]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What an episode pays, how long it lasts, and how much it tells."""

    reward: str = "speedup"
    """A name of `REWARDS`."""
    max_turns: int = 20
    """Actions in an episode; the last one settles."""
    observation_chars: int = 8000
    """The longest observation text."""

    def __post_init__(self) -> None:
        if self.reward not in REWARDS:
            raise ValueError(
                f"There is no reward {self.reward!r}.{did_you_mean(self.reward, REWARDS, most=1)} "
                f"The rewards are {', '.join(REWARDS)}."
            )
        if self.max_turns < 1 or self.observation_chars < MIN_CHARS:
            raise ValueError(
                f"max_turns is at least 1 and observation_chars at least {MIN_CHARS}; "
                f"got {self.max_turns} and {self.observation_chars}."
            )
