"""The page with the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.routing_replay.bounds import VARIANTS, Bound, bounds
from benchmarks.routing_replay.names import ABOUT

__all__ = ["page"]

_TITLES = {
    "mmlu_pro_15": "MMLU-Pro, 15 models",
    "mmlu_pro_5_small": "MMLU-Pro, 5 small models",
    "zeroeval_28": "ZeroEval, 28 models",
    "zeroeval_7_cheap": "ZeroEval, 7 cheap models",
    "llmrouter": "LLMRouter, 9 models",
}
_WHENCE = (
    "Accuracy: from recorded answers. Dollars: list prices (assumed) times tokens (estimated, characters / 4). Seconds: "
    "modelled from assumed speeds, calls of a layer side by side. *Simulated*: share of questions whose answer "
    "models had a say in that read other answers, by the rules below; with + simulated self and peer scores "
    "steered the route too. Layer 2, 3 and aggregator rows are worth no more than these rules."
)


def page(results: Mapping[str, Any], header: str, rules: str) -> str:
    """Everything, as Markdown.

    Args:
        results: As they are written to JSON.
        header: Where and when, and how to measure again.
        rules: Of the simulation.
    """
    found = bounds(results)
    parts = [
        "# Routing on recorded answers",
        header,
        "![Cost against accuracy](routing.svg)",
        "## What must hold",
        *_bound_tables(found),
    ]
    for name, pool in results["pools"].items():
        parts += [f"## {_TITLES[name]}", *_pool(pool)]
    parts += ["## The scorer by itself", _scorers(results["pools"])]
    if sweep := results.get("sweep"):
        parts += ["## Other rules of simulation", *_sweep(sweep)]
    parts += ["## The methods", _methods(), "## How it was done", _HOW, rules]
    return "\n\n".join(parts) + "\n"


def _bound_tables(found: Sequence[Bound]) -> Iterator[str]:
    """Claims by pool, a column for each variant; then those that have none."""
    by_claim: dict[tuple[str, str], dict[str, Bound]] = {}
    for bound in found:
        if bound.variant:
            by_claim.setdefault((bound.claim, bound.pool), {})[bound.variant] = bound
    rows = [
        (claim, _TITLES[pool], *(_held(one[variant]) for variant in VARIANTS))
        for (claim, pool), one in sorted(by_claim.items())
    ]
    yield (
        "Dollars and seconds rest on assumed prices and speeds, and all figures of both mixtures of agents, of "
        "`RouteMoA, layers` and of `RouteMoA, paper's knobs` on simulation. Differences of accuracy are in points, with "
        "the 95 % interval of a paired bootstrap. `RouteMoA, one layer` rests on recorded answers alone."
    )
    yield _table(("claim", "pool", *(f"`{variant}`" for variant in VARIANTS)), rows)
    yield _table(
        ("claim", "where", "measured"),
        [
            (bound.claim, _TITLES.get(bound.pool, bound.pool), _held(bound))
            for bound in found
            if not bound.variant
        ],
    )


def _held(bound: Bound) -> str:
    if bound.holds is None:
        return bound.measured
    return f"{bound.measured}: {'holds' if bound.holds else '**DOES NOT HOLD**'}"


def _pool(pool: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{pool['num_questions']:,} questions, {pool['num_test']:,} of them tested under each of "
        f"{len(pool['static_best_3'])} seeds. {_left_out(pool)}"
        f"Static best 3: {_static(pool['static_best_3'])}. {_WHENCE}"
    )
    rows = []
    for method in pool["methods"]:
        scores = " +" if method["uses_simulated_scores"] else ""
        rows.append(
            (
                f"**{method['name']}**" if method["is_routed"] else method["name"],
                f"{100 * method['accuracy']:.1f} ± {100 * method['accuracy_spread']:.1f}",
                f"{method['usd_per_1000']:.3f}",
                f"{method['latency_s']:.1f}",
                f"{method['calls']:.1f}",
                f"{100 * method['one_layer']:.0f} %",
                _share(method["off_static"]),
                f"{100 * method['rests_on_simulation']:.0f} %{scores}",
            )
        )
    yield _table(
        (
            "method",
            "right, %",
            "$ for 1,000",
            "seconds",
            "calls",
            "one layer",
            "route is not the static one",
            "simulated",
        ),
        rows,
    )
    yield _differences(pool["differences"])
    yield _curve(pool["curve"])
    yield _chosen(pool["chosen"])


def _left_out(pool: Mapping[str, Any]) -> str:
    """Of what is counted since it was first told."""
    if "num_left_out" not in pool:
        return ""
    least, most = min(pool["num_left_out"]), max(pool["num_left_out"])
    number = f"{least}" if least == most else f"{least} to {most}"
    return (
        f"Left out: {pool['num_repeated']} whose text another question has, and of the training {number} that "
        "ask what one of the test does. "
    )


def _static(statics: Sequence[Sequence[str]]) -> str:
    """The most frequent one, and in how many seeds."""
    sets = [tuple(one) for one in statics]
    most = max(sets, key=sets.count)
    return f"{', '.join(most)} ({sets.count(most)} of {len(sets)} seeds)"


def _differences(differences: Mapping[str, Mapping[str, float]]) -> str:
    ours = list(dict.fromkeys(key.split(" | ")[0] for key in differences))
    theirs = list(dict.fromkeys(key.split(" | ")[1] for key in differences))
    rows = []
    for mine in ours:
        cells = []
        for other in theirs:
            found = differences[f"{mine} | {other}"]
            mean, low, high = (100 * found[key] for key in ("mean", "low", "high"))
            cells.append(f"{mean:+.1f} ({low:+.1f} to {high:+.1f})")
        rows.append((f"**{mine}**", *cells))
    return "Points of accuracy against others, same questions, 95 % interval:\n\n" + _table(
        ("", *theirs), rows
    )


def _curve(curve: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            one["name"],
            f"{100 * one['accuracy']:.1f}",
            f"{one['usd_per_1000']:.3f}",
            f"{one['latency_s']:.1f}",
            _share(one["off_static"]),
        )
        for one in curve
    ]
    about = (
        "The price knob: up to three proposers of one layer, where the cost of one answer of the best single model counts "
        "as so large a share of a right answer (accuracy recorded, prices and speeds assumed; fewer questions than above):"
    )
    return f"{about}\n\n" + _table(
        ("worth", "right, %", "$ for 1,000", "seconds", "route is not the static one"), rows
    )


def _chosen(chosen: Sequence[Mapping[str, Mapping[str, Any]]]) -> str:
    parts = []
    for name in chosen[0]:
        if name not in (*VARIANTS[:2], "RouteMoA, cheap"):
            continue
        told = [
            f"width {one[name]['width']}, {one[name]['max_layers']} layer{'s'[: one[name]['max_layers'] - 1]}, "
            f"exit {one[name]['exit_posterior']:g}, ${one[name]['usd']:.3g}"
            for one in chosen
        ]
        parts.append(f"- `{name}`: {'; '.join(told)}")
    return (
        "Chosen in training, by seed (of `$`, what one is worth in right answers):\n\n"
        + "\n".join(parts)
    )


def _scorers(pools: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for name, pool in pools.items():
        for kind, title in (
            ("learned", "learned"),
            ("ridge", "ridge on words"),
            ("static", "none: static order"),
        ):
            scorer = pool["scorer"]
            top_1 = scorer["best_single"] if kind == "static" else scorer[f"{kind}_top_1"]
            error = scorer.get(f"{kind}_ece")
            rows.append(
                (
                    _TITLES[name],
                    title,
                    f"{100 * top_1:.1f}",
                    f"{scorer[f'{kind}_hit_1']:.3f}",
                    f"{scorer[f'{kind}_hit_3']:.3f}",
                    "" if error is None else f"{error:.3f}",
                )
            )
    about = (
        "All recorded. Hit@k: of the questions that some model answers right, the share where one of the k best-rated "
        "does. ECE: expected calibration error, 15 bins of equal size. The mean of all seeds."
    )
    return f"{about}\n\n" + _table(
        ("pool", "scorer", "its best model right, %", "Hit@1", "Hit@3", "ECE"), rows
    )


def _sweep(sweep: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield (
        "What the simulated rows would be under other figures of the rules (one seed, some test questions). "
        "Adoption: how often a model says what most of the answers say that it read. Drift: how often an aggregator "
        "says what it would have said anyway."
    )
    names = list(sweep[0]["accuracy"])
    yield _table(
        ("pool", "adoption", "drift", *names),
        [
            (
                _TITLES[one["pool"]],
                f"{one['adoption']:g}",
                f"{one['drift']:g}",
                *(f"{100 * one['accuracy'][name]:.1f}" for name in names),
            )
            for one in sweep
        ],
    )


def _methods() -> str:
    return "\n".join(f"- `{name}`: {about}." for name, about in ABOUT.items())


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


_HOW = """\
- **Code path.** Every row is the package's own code: `Mixture` and the baselines beside it call replaying models, pay
  bills and count time alike.
- **Split.** Half of the questions to train and half to test on, drawn anew for each seed; of LLMRouter its own split. Two
  thirds of the training questions teach a scorer; the other third gives the posterior's weights and all knobs; then all
  of them teach the scorer of the test. Test questions choose nothing.
- **No leaks.** A question that is tested on is not trained on, nor is one that asks the same: by its letters and digits,
  and of MMLU-Pro by the question and the right option. LLMRouter's own split has 119 of its 500 test questions in its training too
  (all of GPQA's and HumanEval's, 19 of MBPP's): here they are questions of the test alone.
- **Knobs.** Tried for one layer: width 1, 2, 3, 5 and the cost of one answer of the best single model counted as 0, 0.001, 0.003,
  0.01, 0.03 of a right answer. For layers: from there on 1 to 3 of them and an exit at 0.6 or 0.8.
- **Recorded.** Which answers models gave, whether they are right, how long they are. Answers agree where the data's
  grader takes them as equal (all right answers do). Two questions of one text are one.
- **Assumed.** Prices and speeds of models, contexts of 32,768 tokens, a core at $0.05 an hour for the router, which is billed
  and timed as the others are (its encodings come from a file here, so their measured seconds are added).
- **Not in the figures.** Hidden reasoning: o1-mini is billed for the text that it shows, so wherever it is called
  real costs are higher. What sampling adds to Self-MoA. Answers that a better prompt would have got.
- **LLMRouter** records scores alone: answers cannot be compared, so only choices of one model are measured, with outputs of
  1,000 characters assumed for all.
- **Intervals.** A question that is tested under several seeds is drawn with all its tests; 2,000 draws."""
