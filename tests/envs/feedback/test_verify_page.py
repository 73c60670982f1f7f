from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cuda_gym.core.findings import (
    DrawFindings,
    Findings,
    MemoryFinding,
    MemorySide,
    Mismatch,
    Outcome,
)
from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback.findings_page import describe_findings
from cuda_gym.envs.feedback.verify_page import describe_draws, describe_memory
from cuda_gym.judge.verification.remedies import remedy

SUBMISSION = Submission.of({"kernels/k.cu": "int a;\n\tint b = c;\nint d;\n", "model_new.py": ""})
Find = Callable[[Outcome | None], Findings]


def side(line: int | None, does: str = "writes") -> MemorySide:
    return MemorySide(does=does, file="kernels/k.cu" if line else None, line=line,
                      thread=(1, 0, 0), block=(2, 0, 0))  # fmt: skip


def finding(*sides: MemorySide) -> MemoryFinding:
    return MemoryFinding(kind="data race", text="4 bytes at `s` + 8", kernel="k", sides=sides)


def draw(name: str, *, passed: bool, text: str = "x") -> DrawFindings:
    wrong = None if passed else Mismatch(index=(1, 2), got=1.0, expected=2.0, allowed=1e-5)
    return DrawFindings(name=name, description=text, passed=passed, reason="" if passed else text,
                        first=wrong, worst=wrong, pattern=None if passed else text)  # fmt: skip


def test_a_wrong_draw_is_told_with_counts_places_and_pattern(make_findings: Find) -> None:
    assert describe_findings(make_findings(Outcome.WRONG), SUBMISSION).splitlines() == [
        "Wrong on hidden inputs: the 'ordinary' draw failed.",
        "Hidden draws: 1 passed (spiky), then:",
        "  failed: ordinary (x: 4 x 8, normal)",
        "    values differ",
        "    first at [0, 7]: got 1.5, expected 1 +- 1e-06",
        "    worst at [3, 7]: got 9, expected 1 +- 1e-06",
        "    pattern: every 8th element",
        "Next: repair the first wrong draw, then verify again.",
    ]


def test_draws_of_one_kind_are_counted() -> None:
    draws = tuple(draw(name, passed=True) for name in ("ordinary", "spiky", "ordinary"))
    assert describe_draws(draws) == "Draws: ordinary (2), spiky."


def test_both_sides_of_a_race_stand_with_their_lines() -> None:
    text = describe_memory((finding(side(1), side(3, "read it")),), SUBMISSION)
    assert text.splitlines() == [
        "data race in kernel k: 4 bytes at `s` + 8",
        "  thread (1, 0, 0) of block (2, 0, 0) writes at kernels/k.cu:1",
        "    1 | int a;",
        "  thread (1, 0, 0) of block (2, 0, 0) read it at kernels/k.cu:3",
        "    3 | int d;",
        "  repair: put `__syncthreads();` between line 1 and line 3, where every thread reaches it; "
        "in a loop, one at its end as well",
    ]


def test_a_repair_is_told_once() -> None:
    memory = (finding(side(1), side(3)), finding(side(1), side(3)))
    assert describe_memory(memory, SUBMISSION).count("repair: ") == 1
    assert "repair" not in describe_memory(memory, SUBMISSION, told=remedy(memory[0]))


def test_a_wrong_draw_is_told_with_what_the_memory_check_found(make_findings: Find) -> None:
    findings = replace(make_findings(Outcome.WRONG), memory=(finding(side(1), side(3)),))
    lines = describe_findings(findings, SUBMISSION).splitlines()
    assert "draw failed; the memory check found what may be why" in lines[0]
    assert any(line.startswith("data race in kernel k") for line in lines)
    assert any(line.startswith("  repair: put `__syncthreads();`") for line in lines)
    assert lines[-1] == "Next: repair what the memory check found, then verify again."


def test_a_side_of_unknown_place_is_told_without_a_line() -> None:
    assert "|" not in describe_memory((finding(side(None)),), SUBMISSION)


@pytest.mark.parametrize(("num_draws", "num_findings", "most"), [(1, 0, 1750), (40, 0, 1750), (0, 1, 1750), (0, 30, 1750), (40, 30, 2600)])  # fmt: skip
def test_the_page_is_short_whatever_was_found(num_draws: int, num_findings: int, most: int) -> None:
    draws = tuple(draw(f"kind {i}", passed=False, text="long " * 60) for i in range(num_draws))
    memory = tuple(finding(side(1), side(2)) for _ in range(num_findings))
    findings = Findings(
        outcome=Outcome.WRONG, summary="long " * 90, draws=draws, memory=memory, output="y\n" * 9999
    )
    page = describe_findings(findings, SUBMISSION)
    assert len(page) < most
    if num_draws == 40:
        assert "... and 39 more failed draws." in page
    if num_findings == 30:
        assert "... and 26 more findings: data race (26)." in page
