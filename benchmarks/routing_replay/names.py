"""What methods are called in tables, and what is to be known of them."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "ABOUT",
    "ALL",
    "CHEAP",
    "COMPARED",
    "MOA_1",
    "MOA_3",
    "ORACLE",
    "PAPER",
    "RECORDED",
    "SIMULATED",
    "SINGLE",
    "STATIC",
    "TOP_1",
    "TOP_3",
    "WITHIN",
    "is_routed",
    "within",
]

SINGLE, STATIC, ALL = "best single", "static best 3, vote", "plurality of all"
MOA_1, MOA_3, ORACLE = "MoA, 1 layer", "MoA, 3 layers", "oracle"
TOP_1, TOP_3 = "scorer's best", "scorer's best 3, vote"
RECORDED, SIMULATED = "RouteMoA, one layer", "RouteMoA, layers"
CHEAP, PAPER = "RouteMoA, cheap", "RouteMoA, paper's knobs"
COMPARED = (RECORDED, SIMULATED, CHEAP, PAPER)
"""Each of these has a static rival of its own at its cost."""
WITHIN = "static at its cost"
"""Of a comparison: whichever of `within` is of that method."""


def within(mine: str) -> str:
    """The static rival at the cost of one of ours."""
    return f"static at the cost of {mine}"


ABOUT: Mapping[str, str] = {
    SINGLE: "the model that is right most often in training, for everything",
    "best per category": "the same in each category of questions",
    STATIC: "the three whose vote is right most often in training, for everything",
    **{
        within(
            mine
        ): "the one model, or the three by vote, that is right most often in training among what costs "
        f"at most 1.1 times what `{mine}` does there"
        for mine in COMPARED
    },
    "static best 3, aggregator": "the same three, and the best single model makes one answer of theirs",
    "cascade until 2 agree": "cheap to dear, until two answers are equal",
    "cascade until 3 agree": "cheap to dear, until three are",
    "Self-MoA, 6 samples": "the best single model six times and once more. Only one answer of it is recorded, so its "
    "samples are equal: what sampling gains is not measured",
    ALL: "all models, one layer",
    MOA_1: "all models, each alone; then the best single model reads all answers",
    MOA_3: "all models three times, each reading all answers of the layer before; then the same",
    "sparse MoA, keeps 3": "likewise, but the best single model hands on three answers of each layer",
    TOP_1: "one model, by the scorer alone",
    TOP_3: "three models by the scorer; the answer of the most believed stands",
    RECORDED: "width and the worth of a dollar chosen in training: most accurate at no more than 1.1 times the cost "
    "of `static best 3, vote`; the answer of the most believed stands",
    SIMULATED: "also layers, exit and aggregator chosen so, with self and peer scores as evidence",
    CHEAP: "width and the worth of a dollar chosen in training: cheapest at no more than a point below "
    "`static best 3, vote`; where none is, most accurate at no more than its cost",
    PAPER: "3 proposers, up to 3 layers, exit at the paper's thresholds (0.805 in pools of less than ten models, else 0.76), "
    "then the best-ranked model aggregates; dollars count for nothing",
    ORACLE: "the cheapest model that is right, as if one knew",
}


def is_routed(name: str) -> bool:
    """Whether a scorer chooses the models."""
    return name.startswith(("RouteMoA", "scorer's"))
