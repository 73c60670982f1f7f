"""What was measured of mutants is what the page says, and within what is wanted of the judge."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.mutation.records import Record, read_records
from benchmarks.mutation.shares import page

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return list(read_records(RESULTS / "judge_mutation.jsonl").values())


def test_the_page_is_that_of_its_records(records: list[Record]) -> None:
    text = (RESULTS / "judge_mutation.md").read_text("utf-8")
    header, _, _ = text.partition(f"\n\n{len(records)} mutants of ")
    assert page(records, header.splitlines()) == text


def test_few_faults_pass_and_few_mutants_are_left_out(records: list[Record]) -> None:
    measured = [record for record in records if record.is_measured]
    faults = [record for record in measured if not record.is_excluded]
    precision = [record for record in faults if record.is_of_precision]
    assert len(measured) >= 300
    assert len({record.kernel for record in measured}) >= 30
    assert len(measured) - len(faults) <= 0.15 * len(measured)
    assert sum(record.passed_ours for record in faults) <= 0.02 * len(faults)
    assert sum(record.passed_ours for record in precision) <= 0.05 * len(precision)
