from __future__ import annotations

from cuda_gym.judge.sandbox.kernel_clock import KernelClock


def test_library_calls_are_heard_by_name_while_the_clock_runs() -> None:
    clock = KernelClock()
    gemm = clock.timed("gemm", lambda a, *, b: a + b)
    assert gemm(1, b=2) == 3
    clock.start()
    gemm(1, b=2)
    gemm(3, b=4)
    (claim,) = clock.stop()
    assert (claim.name, claim.launches, claim.grid) == ("library.gemm", 2, ())
    assert 0 < claim.total_ns < 1e9
    gemm(1, b=2)
    clock.start()
    assert clock.stop() == ()
