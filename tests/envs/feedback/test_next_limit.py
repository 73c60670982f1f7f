from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cuda_gym.core.verdict import KernelTime, Profile, Timing
from cuda_gym.envs.feedback.next_limit import Limit, next_limit

Kernel = Callable[..., KernelTime]
Make = Callable[..., Profile]
MakeTiming = Callable[..., Timing]


def test_a_call_that_takes_much_longer_than_its_kernels_waits_for_the_host(
    make_kernel: Kernel, make_profile: Make, make_timing: MakeTiming
) -> None:
    found = next_limit(make_timing(), make_profile(make_kernel(total_us=60.0, launches=3)))
    assert found.limit is Limit.HOST
    assert "of 100.0 us a call the kernels take 60.0 us (3 launches)" in found.text
    just_not = next_limit(make_timing(), make_profile(make_kernel(total_us=68.0)))
    assert just_not.limit is not Limit.HOST


def test_many_tiny_launches_are_the_hosts_too(
    make_kernel: Kernel, make_profile: Make, make_timing: MakeTiming
) -> None:
    found = next_limit(make_timing(), make_profile(make_kernel(total_us=90.0, launches=30)))
    assert found.limit is Limit.HOST
    assert "30 in a call, 3.000 us each" in found.text


def test_a_dominant_kernel_that_runs_as_fibers_comes_next(
    make_kernel: Kernel, make_profile: Make, make_timing: MakeTiming
) -> None:
    slow, quick = make_kernel("tile", 72.0, mode="fibers"), make_kernel("add", 18.0)
    found = next_limit(make_timing(), make_profile(quick, slow))
    assert found.limit is Limit.FIBERS
    assert "tile takes 80% of the kernels' time" in found.text
    other = next_limit(make_timing(), make_profile(quick, replace(slow, total_us=1.0)))
    assert other.limit is not Limit.FIBERS


def test_at_the_roof_of_memory_only_fewer_bytes_help(
    make_profile: Make, make_timing: MakeTiming
) -> None:
    found = next_limit(make_timing(), make_profile(bytes_us=85.0))
    assert (found.limit, "memory, at 85% of the roofline: only fewer bytes help" in found.text) == (
        Limit.ROOF,
        True,
    )
    beyond = next_limit(
        make_timing(),
        make_profile(bytes_us=95.0, call_us=None),
    ).text
    assert "at 95%" in beyond
    assert (
        "outputs stay in the cache"
        in next_limit(make_timing(80.0), make_profile(bytes_us=90.0)).text
    )


def test_at_the_roof_of_arithmetic_only_less_of_it_helps(
    make_profile: Make, make_timing: MakeTiming
) -> None:
    found = next_limit(make_timing(), make_profile(flops_us=90.0))
    assert found.limit is Limit.ROOF
    assert "arithmetic, at 90%" in found.text


def test_fewer_blocks_than_cores_leave_some_idle(
    make_kernel: Kernel, make_profile: Make, make_timing: MakeTiming
) -> None:
    found = next_limit(make_timing(), make_profile(make_kernel("sum", grid=(1, 1, 1))))
    assert found.limit is Limit.PARALLELISM
    assert "sum has 1 block for 4 cores" in found.text


def test_several_kernels_on_a_task_of_memory_are_passes_to_fuse(
    make_kernel: Kernel, make_profile: Make, make_timing: MakeTiming
) -> None:
    kernels = (make_kernel("scale", 50.0), make_kernel("add", 40.0), make_kernel("tiny", 1.0))
    found = next_limit(make_timing(), make_profile(*kernels))
    assert found.limit is Limit.PASSES
    assert (
        "2 launches (scale, add) share the time, 2.0 times what moving 500.0 kB once" in found.text
    )


def test_launches_of_one_kernel_are_no_passes(
    make_kernel: Kernel, make_profile: Make, make_timing: MakeTiming
) -> None:
    halves = make_kernel("half", 90.0, launches=2)
    assert next_limit(make_timing(), make_profile(halves)).limit is Limit.ACCESS


def test_a_task_of_arithmetic_far_from_the_roof_wants_reuse(
    make_profile: Make, make_timing: MakeTiming
) -> None:
    found = next_limit(make_timing(), make_profile(flops_us=60.0))
    assert found.limit is Limit.ARITHMETIC
    assert "at 60% of the 100 GFLOP/s" in found.text


def test_on_a_gpu_arithmetic_is_measured_in_the_format_of_the_task(
    make_kernel: Kernel, make_profile: Make, make_timing: MakeTiming
) -> None:
    profile = make_profile(make_kernel(mode=None), flops_us=600.0)
    assert profile.work is not None
    assert profile.rates is not None
    profile = replace(
        profile,
        work=replace(profile.work, number_format="half"),
        rates=replace(profile.rates, gflop_per_s_in={"half": 1000.0}),
    )
    found = next_limit(make_timing(), profile)
    assert found.limit is Limit.ARITHMETIC
    assert "at 60% of the 1000 GFLOP/s" in found.text
    assert "tensor cores" in found.text
    assert "tensor cores" not in next_limit(make_timing(), make_profile(flops_us=60.0)).text


def test_on_a_gpu_blocks_run_on_multiprocessors(
    make_kernel: Kernel, make_profile: Make, make_timing: MakeTiming
) -> None:
    few = make_kernel(mode=None, grid=(2, 1, 1))
    assert "2 blocks for 4 multiprocessors" in next_limit(make_timing(), make_profile(few)).text


def test_a_task_of_memory_far_from_the_roof_wants_better_access(
    make_profile: Make, make_timing: MakeTiming
) -> None:
    found = next_limit(make_timing(), make_profile())
    assert found.limit is Limit.ACCESS
    assert "50% of the roofline" in found.text


@pytest.mark.parametrize(("speedup", "limit"), [(1.0, Limit.NOISE), (2.0, Limit.UNKNOWN)])
def test_where_nothing_is_known_only_noise_is_told(
    make_timing: MakeTiming, speedup: float, limit: Limit
) -> None:
    assert next_limit(make_timing(speedup=speedup), None).limit is limit


def test_a_library_call_that_takes_most_is_the_librarys(
    make_kernel: Kernel, make_profile: Make, make_timing: MakeTiming
) -> None:
    gemm = make_kernel("library.gemm", 72.0, grid=(), block=(), mode=None)
    found = next_limit(make_timing(), make_profile(gemm, make_kernel(total_us=18.0)))
    assert found.limit is Limit.LIBRARY
    assert "library.gemm, which takes 80% of the kernels' time" in found.text
