"""Outputs that are far off in the checking build alone depend on a variable without a value."""

from __future__ import annotations

import pytest

from cuda_gym.core.findings import DrawFindings
from cuda_gym.judge.sandbox.unset_values import unset_findings

ONE = {"kernels/k.cu": "__global__ void k(float* x) {\n    float best;\n    x[0] = best;\n}\n"}
TWO = ONE | {"kernels/l.cu": "__device__ float f() { int a; float b[2]; return a + b[0]; }"}


def compared(error_ratio: float | None, *, passed: bool = False) -> DrawFindings:
    return DrawFindings(
        name="smaller shape",
        description="",
        passed=passed,
        reason="far off",
        error_ratio=error_ratio,
    )


@pytest.mark.parametrize("error_ratio", [1e30, float("inf"), None])
def test_the_only_variable_is_named_with_its_line(error_ratio: float | None) -> None:
    (finding,) = unset_findings(ONE, compared(error_ratio))
    assert finding.kind == "unset variable"
    assert "`best` (kernels/k.cu:2)" in finding.text
    assert [(side.file, side.line) for side in finding.sides] == [("kernels/k.cu", 2)]


def test_of_several_all_are_named_and_none_is_said_to_be_it() -> None:
    (finding,) = unset_findings(TWO, compared(1e30))
    assert "`best` (kernels/k.cu:2) or `a` (kernels/l.cu:1) or `b` (kernels/l.cu:1)" in finding.text
    assert finding.sides == ()


@pytest.mark.parametrize(
    ("files", "draw"),
    [
        (ONE, compared(0.5, passed=True)),
        (ONE, compared(1.5)),
        (
            {"kernels/k.cu": "__global__ void k(float* x) { float a = 0; x[0] = a; }"},
            compared(1e30),
        ),
    ],
    ids=["right", "rounded otherwise", "every variable has a value"],
)
def test_nobody_else_is_accused(files: dict[str, str], draw: DrawFindings) -> None:
    assert unset_findings(files, draw) == ()
