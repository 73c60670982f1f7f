"""Every program of `tests/cuda_programs/buggy` says what must be found in it, and where."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.judge.toolchains.cuda_on_cpu.buggy_programs import NAMES, PROGRAMS, expected_finding

from cuda_gym.judge.toolchains.cuda_on_cpu.checking import KINDS


@pytest.mark.parametrize("name", NAMES)
def test_a_buggy_program_names_lines_that_it_has(name: str) -> None:
    lines = (PROGRAMS / f"{name}.cu").read_text().splitlines()
    for number in expected_finding(name).lines:
        assert lines[number - 1].strip().endswith((";", ")", "{", ","))


def test_there_are_several_programs_of_each_kind() -> None:
    of_kind = Counter(expected_finding(name).kind for name in NAMES)
    # A program has no outputs: these belong to a submission.
    assert min(of_kind[kind] for kind in KINDS if kind != "unwritten output") >= 2
