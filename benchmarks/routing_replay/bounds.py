"""What must hold, and whether it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.routing_replay.choosing import EQUAL
from benchmarks.routing_replay.names import (
    ALL,
    MOA_1,
    MOA_3,
    PAPER,
    RECORDED,
    SIMULATED,
    STATIC,
    WITHIN,
    within,
)

__all__ = ["VARIANTS", "Bound", "bounds"]

VARIANTS = (RECORDED, SIMULATED, PAPER)
_STRONG, _SKEWED = ("mmlu_pro_15", "zeroeval_28"), ("mmlu_pro_5_small", "zeroeval_7_cheap")
_ALONE = "llmrouter"
"""Of this pool answers cannot be compared, so one model answers alone."""
_SIMULATED = (SIMULATED, PAPER)


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One claim about one pool."""

    claim: str
    pool: str
    variant: str
    """Of the method; empty where it does not matter."""
    measured: str
    holds: bool | None
    """None where a figure is only to be stated, or where more was paid for it than for what it is compared with."""
    is_simulated: bool = False
    """Whether scores or second readings that no model gave had a part in it."""


def bounds(results: Mapping[str, Any]) -> list[Bound]:
    """Every bound, as far as its pools were measured."""
    pools = results["pools"]
    found: list[Bound] = []
    for name in (*_STRONG, *_SKEWED, _ALONE):
        if name in pools:
            found += _of_pool(pools[name], is_strong=name in _STRONG)
    return found + list(_of_all(results))


def _of_pool(pool: Mapping[str, Any], *, is_strong: bool) -> Iterator[Bound]:
    methods = {method["name"]: method for method in pool["methods"]}
    for variant in (name for name in VARIANTS if name in methods):
        if is_strong:
            yield from _against_mixtures(pool["name"], methods, variant)
        if pool["name"] != _ALONE:
            seconds = [methods[name]["latency_s"] for name in (variant, STATIC)]
            yield Bound(
                claim="latency against the static best 3: stated",
                pool=pool["name"],
                variant=variant,
                measured=f"{seconds[0]:.1f} s for {seconds[1]:.1f} s",
                holds=None,
                is_simulated=variant in _SIMULATED,
            )
        yield from _accuracy(pool, methods, variant, is_strong=is_strong)


def _against_mixtures(pool: str, methods: Mapping[str, Any], variant: str) -> Iterator[Bound]:
    for claim, rival, figure, least in (
        ("cost against MoA of 3 layers: -89.8 % or more", MOA_3, "usd_per_1000", 0.898),
        ("cost against MoA of 1 layer: -70 % or more", MOA_1, "usd_per_1000", 0.70),
        ("latency against MoA of 3 layers: -63.6 % or more", MOA_3, "latency_s", 0.636),
    ):
        saved = 1 - methods[variant][figure] / methods[rival][figure]
        yield Bound(
            claim=claim,
            pool=pool,
            variant=variant,
            measured=f"{-100 * saved:.1f} %",
            holds=saved >= least,
            is_simulated=True,
        )


def _accuracy(
    pool: Mapping[str, Any], methods: Mapping[str, Any], variant: str, *, is_strong: bool
) -> Iterator[Bound]:
    def compared(claim: str, rival: str, kind: Literal["no loss", "a gain", "stated"]) -> Bound:
        found = pool["differences"][f"{variant} | {rival}"]
        over = "" if kind == "a gain" else "questions_"
        mean, low, high = (100 * found[key] for key in ("mean", f"{over}low", f"{over}high"))
        other = within(variant) if rival == WITHIN else rival
        ours, theirs = (methods[name]["usd_per_1000"] for name in (variant, other))
        held = {"no loss": high >= 0, "a gain": low > 0, "stated": None}[kind]
        if held and rival == STATIC and ours > EQUAL * theirs:
            held = None  # what was paid for is not shown at equal cost
        return Bound(
            claim=f"accuracy against {claim}: {kind}",
            pool=pool["name"],
            variant=variant,
            measured=f"{mean:+.1f} ({low:+.1f} to {high:+.1f}), ${ours:.3f} for ${theirs:.3f}",
            holds=held,
            is_simulated=variant in _SIMULATED,
        )

    if is_strong:
        must = pool["name"] == "mmlu_pro_15"
        yield compared("the vote of all", ALL, "no loss" if must else "stated")
    yield compared("the static best 1 or 3 at its cost", WITHIN, "no loss")
    if pool["name"] == _ALONE:
        return
    yield compared("the static best 3", STATIC, "no loss")
    if not is_strong:
        yield compared("the static best 1 or 3 at its cost", WITHIN, "a gain")
        yield compared("the static best 3", STATIC, "a gain")


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
        for what, name, most_ms in (
            ("routing decision among 100 models, short query", "all", 20),
            ("encoding a short query", "encoding", 10),
            ("encoding a query of 256 tokens", "long_encoding", 30),
        ):
            fastest, median = decision[f"{name}_ms"], decision[f"{name}_median_ms"]
            yield Bound(
                claim=f"{what}, fastest of 50: {most_ms} ms or less",
                pool="",
                variant="",
                measured=f"{fastest:.1f} ms (median {median:.1f})",
                holds=fastest <= most_ms,
            )
    if (billing := results.get("billing")) is not None:
        yield Bound(
            claim="recorded costs from tokens and prices: exact",
            pool="routemoa_recorded",
            variant="",
            measured=f"{billing['exact']} of {billing['rows']} rows, worst off by {billing['worst']:.0e} of itself",
            holds=billing["exact"] == billing["rows"],
        )
