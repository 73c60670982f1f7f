"""Shares of mutants that pass, with intervals, as a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.mutation.method import method
from benchmarks.mutation.records import Record

__all__ = ["page", "wilson"]

_Z: Final = 1.96
_RULES: Final[tuple[tuple[str, Callable[[Record], bool]], ...]] = (
    ("ours", lambda record: record.passed_ours),
    ("KernelBench's rule", lambda record: bool(record.kernelbench)),
    ("CUDA Agent's rule", lambda record: bool(record.cuda_agent)),
)


def wilson(passed: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share after Wilson, which holds for shares near zero, too.

    >>> [round(bound, 3) for bound in wilson(0, 100)]
    [0.0, 0.037]
    """
    if count == 0:
        return 0.0, 1.0
    share, square = passed / count, _Z * _Z
    centre = (share + square / (2 * count)) / (1 + square / count)
    half = math.sqrt(share * (1 - share) / count + square / (4 * count * count))
    half *= _Z / (1 + square / count)
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return min(low, share), max(high, share)  # rounding may leave the share outside


def page(records: Sequence[Record], header: Sequence[str]) -> str:
    """The whole page, from the records of a run.

    Args:
        records: Of all mutants that were tried.
        header: What stands above the table.
    """
    measured = [r for r in records if r.is_measured]
    excluded = [r for r in measured if r.is_excluded]
    faults = [r for r in measured if not r.is_excluded]
    lines = [
        *header,
        "",
        f"{len(records)} mutants of {len({r.kernel for r in records})} right kernels; "
        f"{len(records) - len(measured)} of them do not compile, "
        f"{len(excluded)} of the other {len(measured)} are equivalent "
        f"({_percent(len(excluded), len(measured))}; at most 15 % may be) and left out below.",
        "",
        "| mutants that pass | of | " + " | ".join(name for name, _ in _RULES) + " |",
        "|---|---|" + "---|" * len(_RULES),
    ]
    for name, chosen in _rows(faults):
        shares = (_share(sum(map(passes, chosen)), len(chosen)) for _, passes in _RULES)
        lines.append(f"| {name} | {len(chosen)} | {' | '.join(shares)} |")
    lines += ["", *method(records)]
    lines += [*_listed("Faults that ours lets pass", [r for r in faults if r.passed_ours])]
    accused = [r for r in excluded if not r.passed_ours]
    lines += _listed("Equivalent, but not accepted by ours", accused)
    lines += _listed("Equivalent mutants", excluded)
    return "\n".join(lines).rstrip() + "\n"


def _rows(faults: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    operators = sorted({r.operator for r in faults})
    return [
        ("**all**", list(faults)),
        ("**precision faults**", [r for r in faults if r.is_of_precision]),
        ("**all others**", [r for r in faults if not r.is_of_precision]),
        ("**shown by outputs**", [r for r in faults if not r.equivalent]),
        *((name, [r for r in faults if r.operator == name]) for name in operators),
    ]


def _share(passed: int, count: int) -> str:
    low, high = wilson(passed, count)
    return f"{passed} ({_percent(passed, count)}; {low:.1%} to {high:.1%})".replace("%", " %")


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def _listed(title: str, records: Sequence[Record]) -> list[str]:
    lines = [f"## {title}", ""]
    for r in sorted(records, key=lambda r: (r.kernel, r.operator, r.line, r.after)):
        others = [
            n for n, ok in (("KernelBench", r.kernelbench), ("CUDA Agent", r.cuda_agent)) if ok
        ]
        notes = [
            f"ours: {r.ours}" + ("" if r.passed_ours else f" ({(r.fact or '')[:160]})"),
            f"passes {' and '.join(others)}" if others else "",
            f"oracle: {r.where} after {r.draws} draws",
        ]
        lines.append(f"- {r.kernel}, {r.operator}, {r.path}:{r.line}: `{r.before}` becomes "
                     f"`{r.after}`. {'; '.join(note for note in notes if note)}.")  # fmt: skip
    return [*lines, "" if records else "None.", ""] if not records else [*lines, ""]
