from __future__ import annotations

from cuda_gym.core import Diagnostic, MemoryFinding, MemorySide, Severity, Submission
from cuda_gym.envs.feedback.excerpts import describe_diagnostics, describe_memory

SUBMISSION = Submission.of({"kernels/k.cu": "int a;\n\tint b = c;\nint d;\n", "model_new.py": ""})


def side(line: int | None, does: str = "writes") -> MemorySide:
    return MemorySide(does=does, file="kernels/k.cu" if line else None, line=line,
                      thread=(1, 0, 0), block=(2, 0, 0))  # fmt: skip


def finding(*sides: MemorySide) -> MemoryFinding:
    return MemoryFinding(kind="data race", text="4 bytes at `s` + 8", kernel="k", sides=sides)


def test_a_caret_stands_under_the_column_whatever_tabs_are_before_it() -> None:
    error = Diagnostic(
        severity=Severity.ERROR, message="no c", file="kernels/k.cu", line=2, column=10
    )
    said, code, caret = describe_diagnostics((error,), SUBMISSION).splitlines()
    assert "kernels/k.cu:2:10: error: no c" in said
    assert code[caret.index("^")] == "c"


def test_both_sides_of_a_race_stand_with_their_lines() -> None:
    text = describe_memory((finding(side(1), side(3, "read it")),), SUBMISSION)
    assert text.splitlines() == [
        "data race: 4 bytes at `s` + 8",
        "  thread (1, 0, 0) of block (2, 0, 0) writes at kernels/k.cu:1",
        "    1 | int a;",
        "  thread (1, 0, 0) of block (2, 0, 0) read it at kernels/k.cu:3",
        "    3 | int d;",
    ]


def test_a_side_of_unknown_place_is_told_without_a_line() -> None:
    assert "|" not in describe_memory((finding(side(None)),), SUBMISSION)


def test_more_than_a_few_findings_are_counted() -> None:
    assert describe_memory((finding(side(1)),) * 6, SUBMISSION).endswith("... and 2 more.")
