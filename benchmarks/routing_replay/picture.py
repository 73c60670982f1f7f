"""Cost against accuracy, a panel for each pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.routing_replay.names import COMPARED, ORACLE, within

__all__ = ["draw", "front", "is_hollow"]

_UNSEEN = frozenset(within(mine) for mine in COMPARED[1:])
"""Mostly on top of each other and of the static best three; the table has them."""
_INK, _OURS, _OTHERS, _SIMULATED = "#333333", "#d1495b", "#30638e", "#9aa5b1"


def front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points (cost, accuracy) that none beats in both, cheapest first.

    >>> front([(1.0, 0.5), (2.0, 0.4), (3.0, 0.6)])
    [(1.0, 0.5), (3.0, 0.6)]
    """
    best: list[tuple[float, float]] = []
    for cost, accuracy in sorted(points, key=lambda point: (point[0], -point[1])):
        if not best or accuracy > best[-1][1]:
            best.append((cost, accuracy))
    return best


def is_hollow(method: Mapping[str, Any]) -> bool:
    """Whether simulation had more than a little to do with a method's answers, or steered its route."""
    return bool(method["rests_on_simulation"] > 0.05 or method["uses_simulated_scores"])


def draw(results: Mapping[str, Any], path: Path) -> None:
    """Write the picture as SVG.

    Args:
        results: `pools` by name, each with its `methods`.
        path: Of the file.
    """
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "routing", "svg.fonttype": "none", "font.size": 8})
    pools = list(results["pools"].items())
    numbers: dict[str, int] = {}
    for _, pool in pools:
        for method in pool["methods"]:
            if method["name"] not in _UNSEEN:
                numbers.setdefault(method["name"], len(numbers) + 1)
    rows = len(pools) // 2 + 1
    figure, grid = pyplot.subplots(
        rows, 2, figsize=(10, 3.6 * rows), squeeze=False, layout="constrained"
    )
    panels = list(grid.flat)
    for axes, (name, pool) in zip(panels, pools, strict=False):
        _panel(axes, name, pool, numbers)
    for axes in panels[len(pools) :]:
        axes.axis("off")
    _legend(panels[len(pools)], numbers)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _legend(axes: Any, numbers: Mapping[str, int]) -> None:
    notes = (
        "Red: routed; dotted: as dollars count more.",
        "Hollow: rests on simulated second readings or scores.",
        "Grey: what no other method but the oracle beats.",
        "Costs: assumed prices, estimated tokens.",
        "",
    )
    text = "\n".join((*notes, *(f"{number:>2}  {name}" for name, number in numbers.items())))
    axes.text(0.02, 0.98, text, va="top", fontsize=7, color=_INK, linespacing=1.25)


def _panel(axes: Any, title: str, pool: Mapping[str, Any], numbers: Mapping[str, int]) -> None:
    curve = pool["curve"]
    methods = [method for method in pool["methods"] if method["name"] in numbers]
    reachable = [method for method in methods if method["name"] != ORACLE]
    axes.plot(
        [one["usd_per_1000"] for one in curve],
        [one["accuracy"] for one in curve],
        color=_OURS,
        linewidth=1,
        linestyle=":",
        zorder=2,
    )
    edge = front([(one["usd_per_1000"], one["accuracy"]) for one in reachable])
    axes.plot(
        *zip(*edge, strict=True), drawstyle="steps-post", color=_SIMULATED, linewidth=1, zorder=1
    )
    for method in methods:
        color = _OURS if method["is_routed"] else _OTHERS
        point = (method["usd_per_1000"], method["accuracy"])
        axes.scatter(
            *point, s=22, color="white" if is_hollow(method) else color, edgecolors=color, zorder=3
        )
        axes.annotate(
            str(numbers[method["name"]]),
            point,
            xytext=(3, 3 if numbers[method["name"]] % 2 else -8),
            textcoords="offset points",
            fontsize=7,
            color=_INK,
        )
    axes.set_xscale("log")
    axes.set_title(title)
    axes.set_xlabel("$ for 1,000 questions (assumed prices)")
    axes.set_ylabel("accuracy")
    axes.margins(x=0.18, y=0.08)
    axes.grid(visible=True, linewidth=0.3)
