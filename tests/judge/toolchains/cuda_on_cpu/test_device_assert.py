"""assert() inside the kernels of a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.judge.toolchains.cuda_program import build_program, run_program

PROGRAM = Path(__file__).parents[1] / "programs" / "device_assert.cu"


@pytest.mark.parametrize("checking", [False, True])
def test_a_failed_assert_fails_the_launch_and_the_host_goes_on(checking: bool) -> None:
    run = run_program(build_program([PROGRAM], checking=checking), deadline_s=20)
    assert run.status == 0
    assert run.output.endswith("ok\n")
    assert "device_assert.cu:16: assertion `value < 0` failed" in run.output


def test_a_failed_assert_of_host_code_ends_the_program(tmp_path: Path) -> None:
    source = tmp_path / "host.cu"
    source.write_text("#include <cassert>\nint main(int argc, char**) { assert(argc > 1); }\n")
    run = run_program(build_program([source]), deadline_s=20)
    assert run.status != 0
    assert "Assertion `argc > 1' failed" in run.output
