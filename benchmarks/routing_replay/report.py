"""The page with the tables."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.routing_replay import simulation
from benchmarks.routing_replay.bounds import VARIANTS, Bound, bounds
from benchmarks.routing_replay.names import ABOUT, CHEAP, MOA_1, MOA_3
from benchmarks.routing_replay.notes import HEADER, HOW, WHENCE

__all__ = ["page"]

_TITLES = {
    "mmlu_pro_15": "MMLU-Pro, 15 models",
    "mmlu_pro_5_small": "MMLU-Pro, 5 small models",
    "zeroeval_28": "ZeroEval, 28 models",
    "zeroeval_7_cheap": "ZeroEval, 7 cheap models",
    "llmrouter": "LLMRouter, 9 models",
}
_SCORED, _READ = " (simulated scores)", " (simulated)"


def page(results: Mapping[str, Any]) -> str:
    """Everything, as Markdown, and the same for the same.

    Args:
        results: As they are written to JSON.
    """
    found = bounds(results)
    parts = [
        "# Routing on recorded answers",
        HEADER,
        "![Cost against accuracy](routing.svg)",
        "## What must hold",
        *_bound_tables(found),
    ]
    for name, pool in results["pools"].items():
        parts += [f"## {_TITLES[name]}", *_pool(pool)]
    parts += ["## The scorer by itself", _scorers(results["pools"])]
    if sweep := results.get("sweep"):
        parts += ["## Other rules of simulation", *_sweep(sweep)]
    rules = f"The rules of the simulation:\n\n```text\n{inspect.getdoc(simulation)}\n```"
    parts += ["## The methods", _methods(), "## How it was done", HOW, rules]
    return "\n\n".join(parts) + "\n"


def _bound_tables(found: Sequence[Bound]) -> Iterator[str]:
    """Claims by pool, a column for each variant; then those that have none."""
    by_claim: dict[tuple[str, str], dict[str, Bound]] = {}
    for bound in found:
        if bound.variant:
            by_claim.setdefault((bound.claim, bound.pool), {})[bound.variant] = bound
    rows = [
        (claim, _TITLES[pool], *(_held(one.get(variant)) for variant in VARIANTS))
        for (claim, pool), one in sorted(by_claim.items())
    ]
    yield (
        "Dollars and seconds rest on assumed prices and speeds. `RouteMoA, one layer` rests on recorded answers alone; "
        "what mixtures of agents, `RouteMoA, layers` and `RouteMoA, paper's knobs` do rests on simulation, and is marked. "
        "Differences of accuracy are in points, with the 95 % interval of a paired bootstrap: a gain has to hold over "
        "questions and seeds, and a loss counts already where questions alone show it, whose interval is narrower. "
        "Behind them, what 1,000 questions cost with ours and with the other. A static choice *at its cost* is the best "
        "one, or three by vote, that costs at most 1.1 times what that variant does in training; where a variant pays for "
        "more than that, compare it with the vote of all too. Where we cost more than "
        "1.1 times the static best three, being better than these is stated and proves nothing."
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


def _held(bound: Bound | None) -> str:
    if bound is None:
        return ""
    measured = bound.measured + (_READ if bound.is_simulated else "")
    if bound.holds is None:
        return measured
    return f"{measured}: {'holds' if bound.holds else '**DOES NOT HOLD**'}"


def _pool(pool: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{pool['num_questions']:,} questions, {pool['num_test']:,} of them tested under each of "
        f"{len(pool['static_best_3'])} seeds. {_left_out(pool)}"
        f"Static best 3: {_static(pool['static_best_3'])}. {WHENCE} {_commit(pool['measured'])}"
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
    if pool["static_at_its_cost"]:
        yield _rivals(pool["static_at_its_cost"])


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
    ours, theirs = (
        list(dict.fromkeys(key.split(" | ")[place] for key in differences)) for place in (0, 1)
    )
    rows = []
    for mine in ours:
        cells = []
        for other in theirs:
            found = differences[f"{mine} | {other}"]
            mean, low, high = (100 * found[key] for key in ("mean", "low", "high"))
            cells.append(f"{mean:+.1f} ({low:+.1f} to {high:+.1f})")
        rows.append((f"**{mine}**{_SCORED if mine in VARIANTS[1:] else ''}", *cells))
    head = (other + (_READ if other in (MOA_1, MOA_3) else "") for other in theirs)
    about = (
        "Points of accuracy against others, same questions, 95 % interval over questions and seeds:"
    )
    return f"{about}\n\n" + _table(("", *head), rows)


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
        if name not in (*VARIANTS[:2], CHEAP):
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


def _rivals(rivals: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    parts = [
        f"- `{mine}`: {'; '.join(', '.join(one['models']) for one in by_seed)}"
        for mine, by_seed in rivals.items()
    ]
    return "The static choice at the cost of each, by seed:\n\n" + "\n".join(parts)


def _commit(measured: Mapping[str, Any]) -> str:
    state = "" if measured["is_clean"] else ", with changes that are not in it"
    return (
        f"Measured on {measured['date']} with {measured['cores']} cores at commit "
        f"{measured['commit']}{state}."
    )


def _sweep(sweep: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    about = {
        "reading": "Adoption: how often a model says what most of the answers say that it read. Drift: how often an "
        "aggregator says what it would have said anyway.",
        "scores": "Self and peer: how well such a score tells right answers from wrong ones, as an area under the curve: at "
        "0.5 it tells nothing. Weights and knobs are chosen anew under each rule. The first two columns use no scores.",
    }
    yield (
        "What simulated rows would be under other figures of the rules: percent right, and $ for 1,000. "
        f"The mean of {sweep[0]['seeds']} seeds of {sweep[0]['questions']} questions: of a difference, a point or two is chance."
    )
    for kind, figures in (("reading", ("adoption", "drift")), ("scores", ("self_auc", "peer_auc"))):
        names = list(sweep[0][kind][0]["methods"])
        rows = [
            (
                _TITLES[one["pool"]],
                *(f"{rule[figure]:g}" for figure in figures),
                *_swept(rule, names),
            )
            for one in sweep
            for rule in one[kind]
        ]
        heads = (figure.removesuffix("_auc") for figure in figures)
        yield f"{about[kind]}\n\n" + _table(("pool", *heads, *names), rows)


def _swept(rule: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    for name in names:
        one = rule["methods"][name]
        yield f"{100 * one['accuracy']:.1f}, {one['usd_per_1000']:.3f}"


def _methods() -> str:
    return "\n".join(f"- `{name}`: {about}." for name, about in ABOUT.items())


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
