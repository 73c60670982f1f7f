"""What must hold, and whether it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.routing_replay.names import (
    ALL,
    MOA_1,
    MOA_3,
    PAPER,
    RECORDED,
    SIMULATED,
    STATIC,
    WITHIN,
)

__all__ = ["VARIANTS", "Bound", "bounds"]

VARIANTS = (RECORDED, SIMULATED, PAPER)
_STRONG, _SKEWED = ("mmlu_pro_15", "zeroeval_28"), ("mmlu_pro_5_small", "zeroeval_7_cheap")


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One claim about one pool."""

    claim: str
    pool: str
    variant: str
    """Of the method; empty where it does not matter."""
    measured: str
    holds: bool | None
    """None where a figure is only to be stated."""


def bounds(results: Mapping[str, Any]) -> list[Bound]:
    """Every bound, as far as its pools were measured."""
    pools = results["pools"]
    found: list[Bound] = []
    for name in (*_STRONG, *_SKEWED):
        if name in pools:
            found += _of_pool(pools[name], is_strong=name in _STRONG)
    return found + list(_of_all(results))


def _of_pool(pool: Mapping[str, Any], *, is_strong: bool) -> Iterator[Bound]:
    methods = {method["name"]: method for method in pool["methods"]}
    for variant in VARIANTS:
        if is_strong:
            for claim, rival, figure, least in (
                ("cost against MoA of 3 layers: -89.8 % or more", MOA_3, "usd_per_1000", 0.898),
                ("cost against MoA of 1 layer: -70 % or more", MOA_1, "usd_per_1000", 0.70),
                ("latency against MoA of 3 layers: -63.6 % or more", MOA_3, "latency_s", 0.636),
            ):
                saved = 1 - methods[variant][figure] / methods[rival][figure]
                yield Bound(
                    claim=claim,
                    pool=pool["name"],
                    variant=variant,
                    measured=f"{-100 * saved:.1f} %",
                    holds=saved >= least,
                )
        yield from _accuracy(pool, variant, is_strong=is_strong)


def _accuracy(pool: Mapping[str, Any], variant: str, *, is_strong: bool) -> Iterator[Bound]:
    def compared(claim: str, rival: str, holds: Callable[[float, float], bool | None]) -> Bound:
        found = pool["differences"][f"{variant} | {rival}"]
        mean, low, high = (100 * found[key] for key in ("mean", "low", "high"))
        return Bound(
            claim=claim,
            pool=pool["name"],
            variant=variant,
            measured=f"{mean:+.1f} ({low:+.1f} to {high:+.1f})",
            holds=holds(low, high),
        )

    def no_loss(low: float, high: float) -> bool:
        del low
        return high >= 0

    def gain(low: float, high: float) -> bool:
        del high
        return low > 0

    if pool["name"] == "mmlu_pro_15":
        yield compared("accuracy against the vote of all: no loss", ALL, no_loss)
    elif is_strong:
        yield compared("accuracy against the vote of all: stated", ALL, lambda *_: None)
    yield compared("accuracy against the static best 3: no loss", STATIC, no_loss)
    yield compared("accuracy against the static best 3 at our cost: no loss", WITHIN, no_loss)
    if not is_strong:
        yield compared("accuracy against the static best 3: a gain", STATIC, gain)
        yield compared("accuracy against the static best 3 at our cost: a gain", WITHIN, gain)


def _of_all(results: Mapping[str, Any]) -> Iterator[Bound]:
    hits = {name: pool["scorer"]["learned_hit_3"] for name, pool in results["pools"].items()}
    best = max(hits, key=hits.__getitem__)
    yield Bound(
        claim="scorer's Hit@3 of solvable questions: 0.97 or more on one pool",
        pool=best,
        variant="",
        measured=f"{hits[best]:.3f}",
        holds=hits[best] >= 0.97,
    )
    if (decision := results.get("decision")) is not None:
        yield Bound(
            claim="routing decision among 100 models: 20 ms or less",
            pool="",
            variant="",
            measured=f"{decision['all_ms']:.1f} ms, {decision['encoding_ms']:.1f} of them the encoder's",
            holds=decision["all_ms"] <= 20,
        )
        if (long_ms := decision.get("long_encoding_ms")) is not None:
            yield Bound(
                claim="encoding a query: 10 ms or less, of 256 tokens 30 ms or less",
                pool="",
                variant="",
                measured=f"{decision['encoding_ms']:.1f} ms, {long_ms:.1f} ms",
                holds=decision["encoding_ms"] <= 10 and long_ms <= 30,
            )
    if (billing := results.get("billing")) is not None:
        yield Bound(
            claim="recorded costs from tokens and prices: exact",
            pool="routemoa_recorded",
            variant="",
            measured=f"{billing['exact']} of {billing['rows']} rows, worst off by {billing['worst']:.0e} of itself",
            holds=billing["exact"] == billing["rows"],
        )
