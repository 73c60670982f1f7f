"""How many wrong kernels does the judge let pass? Faults are made in right ones, and judged.

    python benchmarks/judge_mutation.py --limit 445 --workers 16    measure so many more, then write the page
    python benchmarks/judge_mutation.py                             write the page from what was measured

Every mutant is compiled once and judged four times on `cpu`: by our `verify`, by the rules of KernelBench
and of CUDA Agent, restated, and by an oracle that knows no judge and says which mutants are no
faults at all (`mutation/rules.py`). What is known of a mutant is appended to
`results/judge_mutation.jsonl` at once, so a run that was stopped goes on where it was;
`results/judge_mutation.md` has the shares and lists all that passed, and all that was excluded.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # run as a script, for its parts

from benchmarks.mutation.choice import choose
from benchmarks.mutation.edits import Mutant
from benchmarks.mutation.records import Record, append, read_records
from benchmarks.mutation.right_kernels import right_kernels
from benchmarks.mutation.shares import page
from benchmarks.mutation.workers import Request, ask_all, worker_command

from cuda_gym.core.verdict import JUDGE_VERSION
from cuda_gym.judge.profiling import telemetry

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    options = _options()
    records_path, page_path = options.to / "judge_mutation.jsonl", options.to / "judge_mutation.md"
    names = [k.name for k in right_kernels() if not options.only or options.only in k.name]
    if options.limit or options.list:
        with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
            _run(Path(folder), names, records_path, options)
    records = list(read_records(records_path).values())
    if records:
        page_path.write_text(page(records, _header()), "utf-8")
        sys.stdout.write(page_path.read_text("utf-8").split("## ")[0])
    else:
        sys.stdout.write("Nothing was measured yet; --limit N measures N mutants.\n")


def _run(
    folder: Path, names: Sequence[str], records_path: Path, options: argparse.Namespace
) -> None:
    """Measure what is left; what could not be measured is left for the next run."""
    start = time.monotonic()
    # At least two, so that threads of a kernel meet.
    threads = max(2, telemetry.num_cores() // options.workers)
    command = worker_command(folder, num_draws=options.draws, num_threads=threads)
    found = _all_mutants(names, command, options.workers)
    chosen = [m for m in choose(found, options.seed) if options.operator in m.operator]
    known = read_records(records_path)
    left = [mutant for mutant in chosen if mutant.id not in known]
    _say(f"{len(found)} possible mutants, {len(chosen)} chosen, {len(left)} not yet measured")
    _say(str(dict(Counter(m.operator for m in chosen))))
    if options.list:
        return
    todo = left[: options.limit]
    requests = [Request(what="measure", kernel=m.kernel, mutant=m.as_plain()) for m in todo]
    answers = ask_all(
        requests,
        num_workers=options.workers,
        command=command,
        is_over=lambda: time.monotonic() - start > 60.0 * options.minutes,
    )
    for number, answer in enumerate(answers, start=1):
        seconds = f"{number}/{len(todo)} after {time.monotonic() - start:.0f} s"
        if "record" not in answer.found:
            mutant = Mutant.of_plain(answer.request.mutant or {})
            _say(f"{seconds}: {mutant.id}, not measured: {answer.found['why_not']}")
            continue
        record = Record(**answer.found["record"])
        append(records_path, record)
        _say(f"{seconds}: {_in_short(record)}")


def _all_mutants(names: Sequence[str], command: Sequence[str], num_workers: int) -> list[Mutant]:
    """Every mutant of every kernel, in the order of the kernels.

    Raises:
        RuntimeError: a right kernel is not right.
    """
    requests = [Request(what="mutants", kernel=name) for name in names]
    found: dict[str, list[Mutant]] = {}
    for answer in ask_all(requests, num_workers=num_workers, command=command):
        if "mutants" not in answer.found:
            raise RuntimeError(f"{answer.request.kernel}: {answer.found['why_not']}")
        found[answer.request.kernel] = [Mutant.of_plain(m) for m in answer.found["mutants"]]
    return [mutant for name in names for mutant in found[name]]


def _in_short(record: Record) -> str:
    passed = [n for n in ("kernelbench", "cuda_agent", "equivalent") if getattr(record, n)]
    return (
        f"{record.id} {record.kernel}, {record.operator}: {record.ours or record.why_not}; "
        f"{', '.join(passed) or 'refused by all others'}"
    )


def _header() -> list[str]:
    cores = len(os.sched_getaffinity(0))
    return [
        "# Mutation measurement of the judge",
        "",
        f"{datetime.date.today()}, {telemetry.cpu_name()}, {cores} cores, judge {JUDGE_VERSION}, on "
        "`cpu`. `python benchmarks/judge_mutation.py` writes this file from `judge_mutation.jsonl`.",
        "",
        "A right kernel is changed in one place of its CUDA source. *Ours* is `verify`. KernelBench's rule is",
        "restated: 5 seeds, `allclose` with 1e-4 (1e-2 for float16 and bfloat16). So is CUDA Agent's: 5 draws,",
        "1e-2. A crash and a timeout count as refused by each. *Equivalent* is a mutant that an oracle without",
        "any judge cannot tell from the right kernel: 200 draws at each of 5 shapes against the reference in",
        "float64, with walls around all memory; outputs are the same bits, or err at most 4 times as much as",
        "those of the right kernel. Dropped barriers, races and unwritten sums are faults by construction,",
        "whatever the oracle sees. Intervals are Wilson's, 95 %.",
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=int, default=0, help="measure at most so many mutants")
    parser.add_argument("--only", default="", help="only right kernels whose name contains this")
    parser.add_argument("--operator", default="", help="only operators whose name contains this")
    parser.add_argument("--seed", type=int, default=1, help="which mutants are chosen")
    parser.add_argument("--draws", type=int, default=200, help="of the oracle, at each shape")
    parser.add_argument("--workers", type=int, default=1, help="how many are measured at once")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing more after that")
    parser.add_argument("--list", action="store_true", help="count what would be measured")
    parser.add_argument("--to", type=Path, default=RESULTS, help="where the results are written")
    return parser.parse_args()


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
