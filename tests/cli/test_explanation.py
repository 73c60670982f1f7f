from __future__ import annotations

from dataclasses import replace

import pytest

from cuda_gym.cli.explanation import CheckState, explain
from cuda_gym.core.findings import Build, DrawFindings, Findings, MemoryFinding, Outcome
from cuda_gym.core.verdict import Fingerprint, KernelTime, Profile, Timing, Verdict

BUILD = Build(key="k", library="k.so", toolchain="g++ 12", build_s=0.5, cached=False)
PRINT = Fingerprint(
    judge="1",
    task="t",
    device="d",
    toolchain="g++ 12",
    torch="2",
    compile_mode="default",
    timer="wall",
    transport="sealed memfd",
    isolation="user+pid",
)
TIMING = Timing(
    time_us=10.0,
    compile_us=20.0,
    speedup=2.0,
    speedup_low=1.9,
    speedup_high=2.1,
    num_blocks=10,
    num_calls=80,
    timer="wall",
    clock_ratio=1.04,
)
RIGHT = DrawFindings(name="ordinary", description="", passed=True, error_ratio=0.25)
WRONG = DrawFindings(name="spiky", description="", passed=False, reason="3 of 8 are wrong")
RACE = MemoryFinding(kind="data race", text="", kernel="k", sides=())


def verdict(outcome: Outcome, **found: object) -> Verdict:
    timing = TIMING if outcome is Outcome.CORRECT else None
    findings = Findings(outcome=outcome, summary="the fact", build=BUILD)
    return Verdict(
        outcome=outcome,
        task_id="core/x",
        submission="s",
        device="cpu",
        findings=replace(findings, **found),  # type: ignore[arg-type]
        fingerprint=PRINT,
        timing=timing,
    )


def states(of: Verdict) -> dict[str, CheckState]:
    return {one.check: one.state for one in explain(of)}


def test_what_the_texts_tell_is_told_and_decides_nothing() -> None:
    build = replace(BUILD, evidence=("model_new.py:9 calls exec()",))
    told = {
        one.check: one for one in explain(verdict(Outcome.CORRECT, draws=(RIGHT,), build=build))
    }
    assert told["rules of the text"].state is CheckState.PASSED
    assert "model_new.py:9 calls exec()" in told["rules of the text"].found


def test_how_much_of_a_call_its_kernels_take_is_told() -> None:
    kernel = KernelTime(name="scale", launches=1, total_us=2.0)
    profile = Profile(call_us=8.0, kernels=(kernel,))
    of = replace(verdict(Outcome.CORRECT, draws=(RIGHT,)), profile=profile)
    told = {one.check: one for one in explain(of)}
    assert told["kernels"].state is CheckState.TOLD
    assert "25%" in told["kernels"].found


def test_a_correct_verdict_tells_of_every_check() -> None:
    told = {one.check: one for one in explain(verdict(Outcome.CORRECT, draws=(RIGHT,), memory=()))}
    assert CheckState.NOT_REACHED not in {one.state for one in told.values()}
    assert CheckState.FAILED not in {one.state for one in told.values()}
    assert "the largest error is 25% of what is allowed" in told["hidden draws"].found
    assert told["the judge's clock"].found == "1.04 times what is claimed, at best"
    assert told["walls"].found == "user, pid"


@pytest.mark.parametrize(
    ("of", "failed"),
    [
        (verdict(Outcome.REFUSED, build=None), "rules of the text"),
        (verdict(Outcome.COMPILE_ERROR, build=None), "build"),
        (verdict(Outcome.WRONG, draws=(RIGHT, WRONG)), "hidden draws"),
        (verdict(Outcome.WRONG), "form, and inputs"),
        (verdict(Outcome.TIMEOUT), "import and calls"),
        (verdict(Outcome.RUNTIME_ERROR), "import and calls"),
        (verdict(Outcome.REFUSED), "kernels alone"),
        (verdict(Outcome.RUNTIME_ERROR, draws=(RIGHT,), memory=(RACE,)), "memory"),
        (verdict(Outcome.REFUSED, draws=(RIGHT,)), "race"),
    ],
)
def test_what_ended_a_judgement_is_the_one_that_failed_and_what_comes_after_is_not_reached(
    of: Verdict, failed: str
) -> None:
    found = states(of)
    assert [check for check, state in found.items() if state is CheckState.FAILED] == [failed]
    assert found["the judge's clock"] is CheckState.NOT_REACHED


def test_a_verdict_without_a_memory_check_says_how_to_have_one() -> None:
    told = {one.check: one for one in explain(verdict(Outcome.CORRECT, draws=(RIGHT,)))}
    assert told["memory"].state is CheckState.NOT_MADE
    assert "check='memory'" in told["memory"].found
