"""Several threads of the host that use the device at the same time."""

from __future__ import annotations

from pathlib import Path

from cuda_gym.judge.toolchains.cuda_program import build_program, run_program

PROGRAM = Path(__file__).parents[1] / "programs" / "host_threads.cu"


def test_what_one_thread_of_the_host_does_is_in_order_whatever_the_others_do() -> None:
    run = run_program(build_program([PROGRAM]), deadline_s=30)
    assert (run.status, run.output) == (0, "ok\n")
