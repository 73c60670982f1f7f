"""Cost against accuracy, a panel for each pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.routing_replay.names import ORACLE

__all__ = ["draw", "front"]

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
    columns = 2
    rows = -(-len(pools) // columns)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(11, 4.2 * rows), squeeze=False, layout="constrained"
    )
    for axes in grid.flat[len(pools) :]:
        axes.axis("off")
    for axes, (name, pool) in zip(grid.flat, pools, strict=False):
        _panel(axes, name, pool)
    figure.suptitle(
        "Accuracy and cost of each method. Red: routed; dotted: as dollars count more. "
        "Hollow: rests on simulated second readings.\n"
        "Costs: assumed prices, estimated tokens. The oracle is not reachable and not part of the front.",
        fontsize=9,
    )
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _panel(axes: Any, title: str, pool: Mapping[str, Any]) -> None:
    methods, curve = pool["methods"], pool["curve"]
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
        is_hollow = method["rests_on_simulation"] > 0.05
        point = (method["usd_per_1000"], method["accuracy"])
        axes.scatter(
            *point, s=22, color="white" if is_hollow else color, edgecolors=color, zorder=3
        )
        axes.annotate(
            method["name"], point, xytext=(4, 3), textcoords="offset points", fontsize=6, color=_INK
        )
    axes.set_xscale("log")
    axes.set_title(title)
    axes.set_xlabel("$ for 1,000 questions (assumed prices)")
    axes.set_ylabel("accuracy")
    axes.margins(x=0.18, y=0.08)
    axes.grid(visible=True, linewidth=0.3)
