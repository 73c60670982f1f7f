from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cuda_gym.core.findings import Diagnostic, Findings, Outcome, Severity
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import Verdict
from cuda_gym.envs.feedback.findings_page import describe_findings
from cuda_gym.envs.feedback.profile_page import describe_verdict
from cuda_gym.envs.feedback.submit_page import describe_settlement

FILES = Submission.of({"kernels/relu.cu": "first\n\tx = y;\n", "model_new.py": ""})
Find = Callable[[Outcome | None], Findings]


def test_a_compile_error_is_told_with_a_conclusion_its_line_and_what_to_do() -> None:
    error = Diagnostic(
        severity=Severity.ERROR, message="no y", file="kernels/relu.cu", line=2, column=6
    )
    findings = Findings(outcome=Outcome.COMPILE_ERROR, summary=str(error), diagnostics=(error,))
    assert describe_findings(findings, FILES).split("\n") == [
        "It does not compile: 1 error in kernels/relu.cu.",
        "kernels/relu.cu:2:6: error: no y",
        "    1 | first",
        "    2 |     x = y;",
        "      |         ^",
        "Next: repair the first error, then compile again.",
    ]


def test_a_place_that_is_not_in_the_files_is_told_without_source() -> None:
    stray = Diagnostic(severity=Severity.ERROR, message="gone", file="kernels/relu.cu", line=99)
    findings = Findings(outcome=Outcome.COMPILE_ERROR, summary="s", diagnostics=(stray,))
    assert "kernels/relu.cu:99: error: gone\nNext" in describe_findings(findings, FILES)


def test_a_passing_verify_is_told_in_a_few_lines(make_findings: Find) -> None:
    findings = make_findings(Outcome.CORRECT)
    assert findings.build is not None
    warning = Diagnostic(
        severity=Severity.WARNING, message="m" * 30, file="kernels/relu.cu", line=1
    )
    findings = replace(findings, diagnostics=(warning,) * 9, memory=())
    assert describe_findings(findings, FILES).split("\n") == [
        "Right on all draws.",
        "  kernel relu_kernel: runs as loop, 1,024 bytes of shared memory",
        "Draws: ordinary. The memory check found nothing.",
        f"The compiler warned: kernels/relu.cu:1: warning: {'m' * 30} (and 8 more: see compile)",
        "Next: profile times it against torch.compile.",
    ]


def test_a_memory_check_that_cannot_be_made_asks_for_no_other_code(make_findings: Find) -> None:
    findings = make_findings(Outcome.UNSUPPORTED_ON_DEVICE)
    assert "go on without the memory check" in describe_findings(findings, FILES)
    never_built = replace(findings, build=None)
    assert "write it without the named feature" in describe_findings(never_built, FILES)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_is_told_in_words_everywhere(
    make_verdict: Callable[..., Verdict], outcome: Outcome
) -> None:
    verdict = make_verdict(outcome)
    assert len(describe_verdict(verdict, FILES).split("\n")) >= 2
    assert "It returned 1.5 in all." in describe_settlement(verdict, FILES, paid=1.5)


def test_what_it_printed_is_shown_bounded(make_findings: Find) -> None:
    findings = replace(make_findings(Outcome.RUNTIME_ERROR), output="x" * 5000)
    text = describe_findings(findings, FILES)
    assert "It printed:\n  xxx" in text
    assert len(text) < 1500


def test_the_first_error_is_told_once() -> None:
    error = Diagnostic(
        severity=Severity.ERROR,
        message="'i' was not declared",
        file="kernels/a.cu",
        line=1,
        column=1,
    )
    findings = Findings(
        outcome=Outcome.COMPILE_ERROR,
        summary=f"{error} (2 errors in all)",
        diagnostics=(error, error),
    )
    text = describe_findings(findings, Submission.of({"kernels/a.cu": "i;"}))
    assert text.startswith("It does not compile: 2 errors in kernels/a.cu.\n")
    assert text.count("(2 errors in all)") == 0


def test_what_was_printed_and_told_above_is_not_told_again(make_findings: Find) -> None:
    findings = replace(
        make_findings(Outcome.RUNTIME_ERROR),
        summary="The submission crashed: illegal address 0x12 in kernel k.",
        output="mine\nillegal address 0x12 in kernel k\n",
    )
    text = describe_findings(findings, FILES)
    assert "It printed:\n  mine\nNext" in text
    assert text.count("illegal address") == 1


def test_a_crash_that_the_memory_check_does_not_explain_is_still_to_be_repaired(
    make_findings: Find,
) -> None:
    findings = replace(make_findings(Outcome.RUNTIME_ERROR), memory=())
    assert describe_findings(findings, FILES).endswith("Next: repair the crash, then verify again.")
