"""The models that a mixture may call, with their prices, speeds, limits and skills."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cuda_gym.models.model import Prices

__all__ = ["Roster", "RosterEntry", "Speed"]


@dataclass(frozen=True, kw_only=True)
class Speed:
    """How fast a model answers, measured or assumed."""

    first_token_s: float
    tokens_per_s: float

    def latency_s(self, completion_tokens: float) -> float:
        """Of a call with so many tokens of completion.

        >>> Speed(first_token_s=0.5, tokens_per_s=50.0).latency_s(100)
        2.5
        """
        return self.first_token_s + completion_tokens / self.tokens_per_s


@dataclass(frozen=True, kw_only=True)
class RosterEntry:
    """One model."""

    name: str
    prices: Prices
    speed: Speed
    context_tokens: int
    """Of prompt and completion together."""
    base_url: str | None = None
    """Of an endpoint; None where a Model is given by whoever uses the roster."""
    served_as: str | None = None
    """The endpoint's name of it; None is the same."""
    api_key_variable: str | None = None
    """The environment variable that holds the key."""
    skills: tuple[str, ...] = ()
    billing: str = ""
    """What is to be known of the price, for example `assumed`."""


class Roster:
    """Models by name, in their order.

    Raises:
        RosterError: there is none, two have one name, or a number cannot be.
    """

    def __init__(self, entries: tuple[RosterEntry, ...]) -> None:
        self._entries: Mapping[str, RosterEntry] = {entry.name: entry for entry in entries}

    @classmethod
    def from_toml(cls, path: Path) -> Roster:
        """Read a file with a table `[[model]]` for each.

        Raises:
            RosterError: with the line and the remedy.
        """
        raise NotImplementedError

    def __getitem__(self, name: str) -> RosterEntry:
        return self._entries[name]

    def __iter__(self) -> Iterator[RosterEntry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def names(self) -> tuple[str, ...]:
        """In order."""
        return tuple(self._entries)
