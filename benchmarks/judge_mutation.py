"""How many wrong kernels does the judge let pass? Faults are made in right ones, and judged.

    python benchmarks/judge_mutation.py --limit 400     measure so many more, then write the page
    python benchmarks/judge_mutation.py                 write the page from what was measured

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

from benchmarks.mutation.choice import choose, mutants_of
from benchmarks.mutation.edits import Mutant
from benchmarks.mutation.records import Record, append, read_records
from benchmarks.mutation.right_kernels import RightKernel, right_kernels
from benchmarks.mutation.shares import page
from benchmarks.mutation.trials import Trials

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import JUDGE_VERSION
from cuda_gym.errors import AgentError, MachineError, TaskError
from cuda_gym.judge.judge import Judge, JudgeConfig
from cuda_gym.judge.profiling import telemetry
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.toolchains.cpu import CpuToolchain

RESULTS = Path(__file__).parent / "results"
DEADLINES = Deadlines(load_s=15.0, run_s=15.0)
"""Shorter than a user's: many mutants never end."""


class Measurement:
    """Compiles and judges mutants, one after another.

    Args:
        folder: For what is needed only while it runs.
        num_draws: Of the oracle, at each shape.
    """

    def __init__(self, folder: Path, *, num_draws: int) -> None:
        self._toolchain = CpuToolchain()
        self._trials = Trials(folder, num_draws=num_draws)
        self._judge = Judge(Device("cpu"), JudgeConfig(deadlines=DEADLINES, memory_bytes=4 << 30))

    def all_mutants(self, kernel: RightKernel) -> list[Mutant]:
        """Every mutant of a right kernel."""
        build = self._toolchain.build(Submission.of(kernel.files))
        return list(mutants_of(kernel, self._trials.usual_sizes(kernel, build.library)))

    def measure(self, kernel: RightKernel, mutant: Mutant) -> Record:
        """Judge one mutant by all rules.

        Raises:
            RuntimeError: its right kernel is not right.
            MachineError, TaskError: nothing is known of it.
        """
        submission = kernel.with_text(mutant.path, mutant.text)
        files = {**kernel.files, mutant.path: mutant.text}
        right = self._toolchain.build(Submission.of(kernel.files))
        self._trials.calibrate(kernel, right.library)
        try:
            library = self._toolchain.build(submission).library
        except AgentError as error:
            return Record.of(mutant, why_not=f"{type(error).__name__}: {error}"[:300])
        kernelbench = self._trials.by_rule("kernelbench", kernel, files, library)
        cuda_agent = self._trials.by_rule("cuda_agent", kernel, files, library)
        if kernelbench["ends"]:
            oracle = self._trials.by_oracle(kernel, files, library)
        else:
            oracle = {"equivalent": False, "where": "it does not end"}
        ours, fact = self._verify(kernel, submission)
        return Record.of(
            mutant,
            ours=ours.value,
            fact=fact[:300],
            kernelbench=kernelbench["passes"],
            cuda_agent=cuda_agent["passes"],
            judge=JUDGE_VERSION,
            **oracle,
        )

    def close(self) -> None:
        """End all processes."""
        self._trials.close()
        self._judge.close()

    def _verify(self, kernel: RightKernel, submission: Submission) -> tuple[Outcome, str]:
        """Our judge's outcome; a machine that failed is asked once more.

        Raises:
            MachineError: it failed again.
        """
        for _ in range(2):
            findings = self._judge.verify(kernel.task, submission)
            if findings.outcome not in (None, Outcome.MACHINE_ERROR):
                return findings.outcome, findings.summary
        raise MachineError(findings.summary)


def main() -> None:
    options = _options()
    records_path, page_path = options.to / "judge_mutation.jsonl", options.to / "judge_mutation.md"
    kernels = [k for k in right_kernels() if not options.only or options.only in k.name]
    if options.limit or options.list:
        with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
            measurement = Measurement(Path(folder), num_draws=options.draws)
            try:
                _run(measurement, kernels, records_path, options)
            finally:
                measurement.close()
    records = list(read_records(records_path).values())
    if records:
        page_path.write_text(page(records, _header()), "utf-8")
        sys.stdout.write(page_path.read_text("utf-8").split("## ")[0])
    else:
        sys.stdout.write("Nothing was measured yet; --limit N measures N mutants.\n")


def _run(
    measurement: Measurement,
    kernels: Sequence[RightKernel],
    records_path: Path,
    options: argparse.Namespace,
) -> None:
    """Measure what is left; what could not be measured is left for the next run."""
    by_name = {kernel.name: kernel for kernel in kernels}
    found = [mutant for kernel in kernels for mutant in measurement.all_mutants(kernel)]
    chosen = [m for m in choose(found, options.seed) if options.operator in m.operator]
    known = read_records(records_path)
    left = [mutant for mutant in chosen if mutant.id not in known]
    _say(f"{len(found)} possible mutants, {len(chosen)} chosen, {len(left)} not yet measured")
    _say(str(dict(Counter(m.operator for m in chosen))))
    if options.list:
        return
    # One task after another: its reference is then opened once.
    todo = sorted(left[: options.limit], key=lambda mutant: mutant.kernel)
    for number, mutant in enumerate(todo, start=1):
        start = time.monotonic()
        try:
            record = measurement.measure(by_name[mutant.kernel], mutant)
        except (MachineError, TaskError) as error:
            _say(f"{number}/{len(todo)} {mutant.id}, not measured: {error}")
            continue
        append(records_path, record)
        passed = [n for n in ("kernelbench", "cuda_agent", "equivalent") if getattr(record, n)]
        _say(
            f"{number}/{len(todo)} {mutant.id} {mutant.kernel}, {mutant.operator}: "
            f"{record.ours or record.why_not}; {', '.join(passed) or 'refused by all others'}; "
            f"{time.monotonic() - start:.1f} s"
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
    parser.add_argument("--seed", type=int, default=0, help="which mutants are chosen")
    parser.add_argument("--draws", type=int, default=200, help="of the oracle, at each shape")
    parser.add_argument("--list", action="store_true", help="count what would be measured")
    parser.add_argument("--to", type=Path, default=RESULTS, help="where the results are written")
    return parser.parse_args()


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
