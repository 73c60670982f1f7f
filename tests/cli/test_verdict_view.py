from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from cuda_gym.cli.verdict_view import verdict_view
from cuda_gym.core.findings import Diagnostic, DrawFindings, Findings, Outcome, Severity
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import (
    DeviceRates,
    Fingerprint,
    KernelTime,
    Profile,
    Timing,
    Verdict,
    Work,
)

SUBMISSION = Submission.of({"kernels/a.cu": "int x;\nint y = z;\n", "model_new.py": ""})
PRINT = Fingerprint(
    judge="1",
    task="t",
    device="Some Processor With A Long Name, 2 threads",
    toolchain="g++ 12.2.0 (cuda_on_cpu 1)",
    torch="2.13.0",
    compile_mode="default",
    timer="wall",
    transport="sealed memfd",
    isolation="user+pid+network+ipc+mount+seccomp+rlimits",
)


def timing_of(*, low: float, high: float) -> Timing:
    return Timing(
        time_us=1234.0,
        compile_us=2468.0,
        speedup=2.0,
        speedup_low=low,
        speedup_high=high,
        num_blocks=8,
        num_calls=80,
        timer="wall",
        eager_us=3702.0,
    )


def verdict_of(findings: Findings, timing: Timing | None = None) -> Verdict:
    assert findings.outcome is not None
    return Verdict(
        outcome=findings.outcome,
        task_id="core/softmax",
        submission=SUBMISSION.hash,
        device="cpu",
        findings=findings,
        fingerprint=PRINT,
        timing=timing,
        seed=7,
    )


RIGHT = Findings(
    outcome=Outcome.CORRECT,
    summary="Right on 2 hidden draws.",
    draws=(
        DrawFindings(name="ordinary", description="as given", passed=True, error_ratio=0.02),
        DrawFindings(name="spiky", description="a few elements " * 9, passed=True, error_ratio=0.5),
    ),
)


def shown(verdict: Verdict, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width).print(verdict_view(verdict, SUBMISSION))
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_a_correct_verdict_has_draws_times_interval_and_conditions(width: int) -> None:
    told = shown(verdict_of(RIGHT, timing_of(low=1.95, high=2.05)), width)
    for fact in ("correct", "spiky", "50.0%", "1.23 ms", "2.47 ms", "3.70 ms"):
        assert fact in told
    assert "2.00x" in told
    assert "1.95 to 2.05" in told
    assert "3.00x" in told
    assert "Some Processor" in told
    assert max(map(len, told.splitlines())) <= width
    assert "…" not in told


@pytest.mark.parametrize("width", [80, 120])
def test_a_profile_shows_kernels_roofline_and_the_next_limit(width: int) -> None:
    profile = Profile(
        call_us=1300.0,
        kernels=(
            KernelTime(
                name="rows_kernel", launches=2, total_us=650.0, grid=(64, 1, 1), block=(256, 1, 1)
            ),
        ),
        work=Work(read_bytes=4_000_000, written_bytes=4_000_000, flops=1e6),
        rates=DeviceRates(copy_gb_per_s=10.0, gflop_per_s=50.0, cache_bytes=1 << 20, num_cores=2),
    )
    right = verdict_of(RIGHT, timing_of(low=1.95, high=2.05))
    told = " ".join(shown(replace(right, profile=profile), width).split())
    for fact in (
        "rows_kernel 650.0 us 50%",
        "2 launches, grid 64, block 256",
        "launch-bound. A call takes 2.0 times what its kernels take.",
        "at least 8.00 MB",
        "65% of the roofline",
        "What limits it next: the host",
    ):
        assert fact in told
    assert "What limits it next" not in shown(right, width)


def test_a_wide_interval_is_said_to_be_one() -> None:
    assert "interval is wide" in shown(verdict_of(RIGHT, timing_of(low=0.8, high=9.0)), 80)
    assert "interval is wide" not in shown(verdict_of(RIGHT, timing_of(low=1.95, high=2.05)), 80)


def test_a_diagnostic_is_shown_with_its_line_of_code() -> None:
    diagnostic = Diagnostic(
        severity=Severity.ERROR, message="'z' was not declared", file="kernels/a.cu", line=2
    )
    findings = Findings(
        outcome=Outcome.COMPILE_ERROR, summary="It does not compile.", diagnostics=(diagnostic,)
    )
    told = shown(verdict_of(findings), 80)
    assert "kernels/a.cu:2: error: 'z' was not declared" in told
    assert "int y = z;" in told
    assert "Next:" not in told


def test_a_failed_draw_is_told_with_its_fact() -> None:
    draw = DrawFindings(name="spiky", description="spikes", passed=False, reason="9 are wrong.")
    findings = Findings(outcome=Outcome.WRONG, summary="Wrong on 'spiky'.", draws=(draw,))
    told = shown(verdict_of(findings), 80)
    assert "the 'spiky' draw failed" in told
    assert "failed" in told
