from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import KernelTime, Profile, Telemetry, Verdict
from cuda_gym.envs.feedback.profile_page import describe_verdict

FILES = Submission.of({"kernels/relu.cu": "first\n\tx = y;\n", "model_new.py": ""})
Judged = Callable[..., Verdict]


def test_the_conclusion_stands_first_then_the_limit_then_the_table(
    make_verdict: Judged, make_profile: Callable[..., Profile]
) -> None:
    verdict = replace(make_verdict(Outcome.CORRECT, 2.0), profile=make_profile(bytes_us=45.0))
    lines = describe_verdict(verdict, FILES).split("\n")
    assert lines[0] == "2.00x as fast as torch.compile. Right on all draws."
    assert lines[1].startswith("What limits it next: memory, at 90% of the roofline")
    assert lines[3:6] == [
        "yours            50.0 us",
        "torch.compile   100.0 us               2.00x  1.96 to 2.04",
        "eager           120.0 us               2.40x",
    ]
    assert lines[6].startswith("Kernels in a call")
    assert lines[-1].startswith("Next: submit")


def test_a_gpu_that_is_slow_or_shared_is_told(make_verdict: Judged) -> None:
    state = Telemetry(
        clock_mhz=1200.0,
        max_clock_mhz=1980.0,
        memory_clock_mhz=3201.0,
        max_memory_clock_mhz=3201.0,
        throttled="too hot",
        load=0.97,
        memory_total_bytes=140_000_000_000,
        num_other_processes=2,
        other_memory_bytes=3_000_000_000,
    )
    text = describe_verdict(replace(make_verdict(Outcome.CORRECT), telemetry=state), FILES)
    assert (
        "Device: 1200 of 1980 MHz, throttled: too hot, 2 other processes on it with 3.00 GB."
        in text
    )


def test_the_state_of_the_device_is_one_line_without_what_it_does_not_say(
    make_verdict: Judged,
) -> None:
    state = Telemetry(clock_mhz=1980.0, temperature_c=41.0, power_w=312.4, throttled="power cap")
    verdict = replace(make_verdict(Outcome.CORRECT), telemetry=state)
    text = describe_verdict(verdict, FILES)
    assert "\nDevice: 1980 MHz, 41 C, 312 W, throttled: power cap.\n" in text
    assert "Device:" not in describe_verdict(replace(verdict, telemetry=None), FILES)


@pytest.mark.parametrize(
    ("speedup", "standing", "advice"),
    [
        (0.5, "0.50x: slower than torch.compile.", "loses to torch.compile"),
        (1.0, "1.00x: level with torch.compile within the noise.", "measuring again"),
        (3.0, "3.00x as fast as torch.compile.", "submit"),
    ],
)
def test_standing_and_advice_follow_the_interval(
    make_verdict: Judged, speedup: float, standing: str, advice: str
) -> None:
    text = describe_verdict(make_verdict(Outcome.CORRECT, speedup), FILES)
    assert text.startswith(standing)
    assert advice in text.split("Next:")[1]


def test_a_busy_machine_allows_no_conclusion(make_verdict: Judged) -> None:
    verdict = make_verdict(Outcome.CORRECT, 0.5)
    assert verdict.timing is not None
    wide = replace(verdict, timing=replace(verdict.timing, speedup_low=0.4, speedup_high=3.0))
    text = describe_verdict(wide, FILES)
    assert text.startswith(
        "About 0.50x torch.compile; the machine was too busy to say which is faster."
    )
    assert "measured anew" in text.split("Next:")[1]


def test_a_rough_measurement_that_is_all_below_one_is_slower(make_verdict: Judged) -> None:
    verdict = make_verdict(Outcome.CORRECT, 0.5)
    assert verdict.timing is not None
    rough = replace(verdict, timing=replace(verdict.timing, speedup_low=0.4, speedup_high=0.6))
    text = describe_verdict(rough, FILES)
    assert text.startswith("About 0.50x: slower than torch.compile.")
    assert "loses to torch.compile" in text


def test_a_kernel_is_told_once(
    make_verdict: Judged,
    make_profile: Callable[..., Profile],
    make_kernel: Callable[..., KernelTime],
) -> None:
    verdict = replace(
        make_verdict(Outcome.CORRECT), profile=make_profile(make_kernel("relu_kernel"))
    )
    table = describe_verdict(verdict, FILES).partition("Kernels in a call")[2]
    assert table.count("relu_kernel") == 1


def test_equal_files_are_pooled_and_others_may_be_better(make_verdict: Judged) -> None:
    verdict = make_verdict(Outcome.CORRECT, 2.0)
    pooled, other = make_verdict(Outcome.CORRECT, 1.9), make_verdict(Outcome.CORRECT, 3.0)
    assert "These files count as 1.90x" in describe_verdict(verdict, FILES, best=pooled)
    other = replace(other, submission="another")
    assert "Best so far: 3.00x, of other files." in describe_verdict(verdict, FILES, best=other)
    assert "pooled" not in describe_verdict(verdict, FILES, best=verdict)


def test_the_page_is_short(make_verdict: Judged, make_profile: Callable[..., Profile]) -> None:
    state = Telemetry(clock_mhz=1980.0, temperature_c=41.0, power_w=312.4, load=0.1)
    verdict = replace(make_verdict(Outcome.CORRECT, 2.0), profile=make_profile(), telemetry=state)
    assert len(describe_verdict(verdict, FILES)) < 600 * 3.5
