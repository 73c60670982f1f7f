"""The models that a mixture may call, with their prices, speeds, limits and skills.

Covered: a list that cannot be right is refused with the place and the remedy; TOML in both directions; the
pools of recorded answers with their assumed prices; speeds that follow what is measured.
Not covered: whether an endpoint answers, and whether its prices are still true.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cuda_gym.agents.route_moa.roster_file import read_tables, written
from cuda_gym.errors import RosterError, did_you_mean
from cuda_gym.models.model import Prices

__all__ = ["Roster", "RosterEntry", "RouterPrice", "Speed"]


@dataclass(frozen=True, kw_only=True)
class Speed:
    """How fast a model answers, measured or assumed."""

    first_token_s: float
    tokens_per_s: float
    measured_calls: int = 0
    """Behind these figures, besides the assumption at their start, which counts as one call."""

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
    """For people, and for a scorer of one's own; what is here chooses by graded answers, not by words."""
    billing: str = ""
    """What is to be known of the price, for example `assumed`."""
    max_parallel: int | None = None
    """Calls that its endpoint takes at once, others wait; None where no limit is known."""


@dataclass(frozen=True, kw_only=True)
class RouterPrice:
    """What it costs to choose the models: seconds of a processor of one's own."""

    usd_per_cpu_hour: float = 0.0

    def cost_usd(self, cpu_s: float) -> float:
        """Of so many seconds.

        >>> RouterPrice(usd_per_cpu_hour=0.5).cost_usd(1800.0)
        0.25
        """
        return self.usd_per_cpu_hour * cpu_s / 3600.0


class Roster:
    """Models by name, in their order.

    Args:
        entries: One or more.
        router: What the router's own work costs.

    Raises:
        RosterError: there is none, two have one name, or a number cannot be.
    """

    def __init__(
        self, entries: tuple[RosterEntry, ...], *, router: RouterPrice | None = None
    ) -> None:
        self.router = router or RouterPrice()
        self._entries: Mapping[str, RosterEntry] = {entry.name: entry for entry in entries}
        if fault := _router_fault(self.router) or _list_fault(entries):
            raise RosterError(fault)

    @classmethod
    def from_toml(cls, path: Path) -> Roster:
        """Read a file with a table `[[model]]` for each, and perhaps one `[router]`.

        A model has `name`, `input_usd_per_million`, `output_usd_per_million`, `first_token_s`,
        `tokens_per_s` and `context_tokens`; and what else of `RosterEntry` is known. The router's table
        has `usd_per_cpu_hour`. `to_toml` shows the form.

        Raises:
            RosterError: with the file, the line where there is one, and the remedy.
        """
        file = read_tables(path)
        entries: list[RosterEntry] = []
        for table in file.models:
            entry = _entry(table.values)
            for key, fault in (*_entry_faults(entry), *_second_of_a_name(entry, entries)):
                raise RosterError(f"{table.place(key)}: {fault}")
            entries.append(entry)
        router = RouterPrice(**file.router.values)
        if wrong := _router_fault(router):
            raise RosterError(f"{file.router.place('usd_per_cpu_hour')}: {wrong}")
        return cls(tuple(entries), router=router)

    @classmethod
    def of_pools(cls, pools: Path, name: str, *, context_tokens: int = 32_768) -> Roster:
        """The models of one pool of recorded answers; prices and speeds are assumed, and say so.

        Args:
            pools: A JSON file with `models` by data set and `pools` by name.
            name: Of a pool.
            context_tokens: Of every model, assumed like the rest.

        Raises:
            RosterError: there is no such pool, or one of its models has no price.
        """
        known = json.loads(pools.read_text(encoding="utf-8"))
        pool = known["pools"].get(name)
        if pool is None:
            hint = did_you_mean(name, known["pools"], however_far=True)
            raise RosterError(f"{pools}: there is no pool {name[:200]!r}.{hint}")
        figures = known["models"][pool["data"]]
        for model in pool["models"]:
            if model not in figures:
                raise RosterError(
                    f"{pools}: {model!r} of the pool {name!r} has no price and no speed"
                )
        assumed = {"context_tokens": context_tokens, "billing": "assumed"}
        return cls(
            tuple(_entry({"name": model, **figures[model], **assumed}) for model in pool["models"])
        )

    def to_toml(self) -> str:
        """The text of a file that `from_toml` reads as this roster."""
        return written(
            [_plain(entry) for entry in self], {"usd_per_cpu_hour": self.router.usd_per_cpu_hour}
        )

    def with_measured(
        self,
        name: str,
        latency_s: float,
        completion_tokens: int,
        *,
        first_token_s: float | None = None,
    ) -> Roster:
        """This roster, knowing of one more call how long it took.

        The figures at the start count as one call, so one slow answer does not decide. A call whose
        first token was timed moves both figures by themselves, each to its running mean; another
        moves both by the running mean of what it took over what was expected.

        Raises:
            RosterError: no model has that name, or the seconds cannot be.
        """
        seconds = (latency_s, 0.0 if first_token_s is None else first_token_s)
        if not all(math.isfinite(value) and 0 <= value <= latency_s for value in seconds):
            raise RosterError(
                f"{name!r} cannot have answered in {latency_s} s, its first token after {first_token_s} s"
            )
        entry = self[name]
        speed = _measured(entry.speed, latency_s, completion_tokens, first_token_s)
        entries = (replace(other, speed=speed) if other is entry else other for other in self)
        return Roster(tuple(entries), router=self.router)

    def __getitem__(self, name: str) -> RosterEntry:
        try:
            return self._entries[name]
        except KeyError:
            hint = did_you_mean(name, self._entries, however_far=True)
            raise RosterError(f"there is no model {name[:200]!r} in the roster.{hint}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[RosterEntry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def names(self) -> tuple[str, ...]:
        """In order."""
        return tuple(self._entries)


def _entry(values: Mapping[str, Any]) -> RosterEntry:
    """Of plain values, as a file has them."""
    rest = dict(values)
    return RosterEntry(
        prices=Prices(
            input_usd_per_million=rest.pop("input_usd_per_million"),
            output_usd_per_million=rest.pop("output_usd_per_million"),
        ),
        speed=Speed(
            first_token_s=rest.pop("first_token_s"),
            tokens_per_s=rest.pop("tokens_per_s"),
            measured_calls=rest.pop("measured_calls", 0),
        ),
        skills=tuple(rest.pop("skills", ())),
        **rest,
    )


def _plain(entry: RosterEntry) -> dict[str, Any]:
    values = {**vars(entry), **vars(entry.prices), **vars(entry.speed)}
    del values["prices"], values["speed"]
    return {key: value for key, value in values.items() if value not in (None, (), "")}


def _measured(
    speed: Speed, latency_s: float, completion_tokens: int, first_token_s: float | None
) -> Speed:
    share = 1 / (speed.measured_calls + 2)  # of this call: those before it, the assumption, itself
    token_s = 1 / speed.tokens_per_s
    if first_token_s is None:
        expected_s = speed.latency_s(completion_tokens)
        slower = 1 + share * (latency_s / expected_s - 1) if expected_s else 1.0
        first_s, token_s = speed.first_token_s * slower, token_s * slower
    else:
        first_s = speed.first_token_s + share * (first_token_s - speed.first_token_s)
        if completion_tokens > 0:
            token_s += share * ((latency_s - first_token_s) / completion_tokens - token_s)
    return Speed(
        first_token_s=first_s, tokens_per_s=1 / token_s, measured_calls=speed.measured_calls + 1
    )


def _list_fault(entries: tuple[RosterEntry, ...]) -> str | None:
    if not entries:
        return "a roster needs one model or more, and has none"
    faults = (
        fault
        for number, entry in enumerate(entries)
        for _, fault in (*_entry_faults(entry), *_second_of_a_name(entry, entries[:number]))
    )
    return next(faults, None)


def _entry_faults(entry: RosterEntry) -> Iterator[tuple[str, str]]:
    """The key of each value that cannot be, and what is wrong with it."""
    name = repr(entry.name)
    if not entry.name.strip():
        yield "name", f"a model has the name {name}, which is no name; write one that no other has"
    for key, price in vars(entry.prices).items():
        if not (math.isfinite(price) and price > 0):
            yield (
                key,
                f"the model {name} has {key} {price}; a price is a finite number above 0, or the model would"
                " be called always. For one of your own, divide what its machine costs by the tokens that it"
                " writes; 0.001 is next to nothing",
            )
    positive = {
        "tokens_per_s": entry.speed.tokens_per_s,
        "context_tokens": entry.context_tokens,
        "max_parallel": 1 if entry.max_parallel is None else entry.max_parallel,
    }
    for key, value in positive.items():
        if not (math.isfinite(value) and value > 0):
            yield key, f"the model {name} has {key} {value}; write a finite number above 0"
    for key in ("first_token_s", "measured_calls"):
        value = getattr(entry.speed, key)
        if not (math.isfinite(value) and value >= 0):
            yield key, f"the model {name} has {key} {value}; write a finite number from 0 on"
    if entry.base_url is not None and not entry.base_url.startswith(("http://", "https://")):
        fact = f"the model {name} has the base_url {entry.base_url!r}"
        yield "base_url", f"{fact}; write one that starts with http:// or https://"


def _second_of_a_name(
    entry: RosterEntry, before: Sequence[RosterEntry]
) -> Iterator[tuple[str, str]]:
    if any(entry.name == other.name for other in before):
        fact = f"two models have the name {entry.name!r}"
        yield "name", f"{fact}; give one another, and say with served_as what its endpoint calls it"


def _router_fault(router: RouterPrice) -> str | None:
    price = router.usd_per_cpu_hour
    if math.isfinite(price) and price >= 0:
        return None
    return f"the router has usd_per_cpu_hour {price}; write a finite number from 0 on"
