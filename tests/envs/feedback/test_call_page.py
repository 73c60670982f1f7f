from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cuda_gym.core.verdict import KernelTime, Profile, Timing
from cuda_gym.envs.feedback.call_page import describe_host, describe_kernels, describe_roofline

Kernel = Callable[..., KernelTime]
Make = Callable[..., Profile]
MakeTiming = Callable[..., Timing]


def test_kernels_stand_with_time_share_and_launch_the_longest_first(
    make_kernel: Kernel, make_profile: Make
) -> None:
    small = make_kernel("add", 20.0, launches=2, grid=(8, 1, 1), mode="phases")
    assert describe_kernels(make_profile(small, make_kernel("matmul_kernel", 70.0))).split(
        "\n"
    ) == [
        "Kernels in a call of 100.0 us, as the submission's process reports them:",
        "  matmul_kernel  70.0 us  70%  1 launch, grid 64x2, block 256, runs as loop",
        "  add            20.0 us  20%  2 launches, grid 8, block 256, runs as phases",
    ]


def test_a_library_call_is_called_and_not_launched(make_kernel: Kernel, make_profile: Make) -> None:
    gemm = make_kernel("library.gemm", 50.0, grid=(), block=(), mode=None)
    assert describe_kernels(make_profile(gemm)).endswith(
        "library.gemm  50.0 us  50%  1 call\n"
        "Warning: launch-bound. A call takes 2.0 times what its kernels take."
    )


def test_what_is_beyond_a_few_kernels_is_summed_up(make_kernel: Kernel, make_profile: Make) -> None:
    kernels = [make_kernel(f"k{i}", 9.0) for i in range(10)]
    lines = describe_kernels(make_profile(*kernels)).split("\n")
    assert len(lines) == 8
    assert lines[-1].split() == ["4", "more", "36.0", "us", "36%", "4", "launches"]


def test_a_launch_bound_call_is_warned_of(make_kernel: Kernel, make_profile: Make) -> None:
    text = describe_kernels(make_profile(make_kernel(total_us=20.0)))
    assert text.endswith("Warning: launch-bound. A call takes 5.0 times what its kernels take.")
    assert "launch-bound" not in describe_kernels(make_profile(make_kernel(total_us=70.0)))


def test_a_call_that_keeps_the_host_longer_than_the_device_is_warned_of(
    make_timing: MakeTiming,
) -> None:
    timing = replace(make_timing(), time_us=10.0)
    slow = replace(timing, host_us=31.0)
    assert "keeps the host 31.0 us, 3.1 times what the device takes" in describe_host(slow)
    assert describe_host(replace(timing, host_us=14.0)) == ""
    assert describe_host(timing) == ""


def test_nothing_is_said_of_kernels_that_are_unknown(make_profile: Make) -> None:
    assert describe_kernels(make_profile(call_us=None)) == ""
    assert describe_kernels(Profile(call_us=3.0)) == ""


def test_the_roofline_says_bytes_rate_and_share(
    make_profile: Make, make_timing: MakeTiming
) -> None:
    text = describe_roofline(make_timing(), make_profile(bytes_us=80.0))
    assert text.startswith(
        "Roofline (memory): at least 800.0 kB (720.0 kB read, 80.0 kB written): 80.0 us at the "
        "10.0 GB/s that this device copies; 100.0 kFLOP: 1.000 us at 100 GFLOP/s. "
        "You take 100.0 us: 80% of the roofline."
    )
    assert "fits the 1.00 MB cache" in text
    assert "cache" not in describe_roofline(make_timing(), make_profile(bytes_us=120.0))
    assert "cache" not in describe_roofline(make_timing(), make_profile(bytes_us=20.0))


def test_the_roofline_names_the_number_format_that_was_measured(
    make_profile: Make, make_timing: MakeTiming
) -> None:
    profile = make_profile()
    assert profile.work is not None
    assert profile.rates is not None
    half = replace(
        profile,
        work=replace(profile.work, number_format="half", flops=8e8),
        rates=replace(profile.rates, gflop_per_s_in={"half": 8e5}),
    )
    text = describe_roofline(make_timing(), half)
    assert "800.0 MFLOP: 1.000 us at 800 TFLOP/s in half" in text


def test_arithmetic_that_nobody_counts_is_said_to_be_so(
    make_profile: Make, make_timing: MakeTiming
) -> None:
    profile = make_profile()
    assert profile.work is not None
    uncounted = replace(profile, work=replace(profile.work, flops=None))
    assert "arithmetic not counted" in describe_roofline(make_timing(), uncounted)


def test_an_unknown_device_has_no_roofline(make_profile: Make, make_timing: MakeTiming) -> None:
    assert describe_roofline(make_timing(), make_profile(rates=None)) == ""
