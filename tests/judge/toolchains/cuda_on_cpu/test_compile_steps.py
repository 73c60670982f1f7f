from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Mode
from cuda_gym.judge.toolchains.cuda_on_cpu.compile_steps import Steps, build_cut_or_whole
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import find_compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import Program

CUT = Program(files={}, kernels={"k": Mode.PHASES}, reaches={}, keeps_index=False)
WHOLE = Program(files={}, kernels={"k": Mode.FIBERS}, reaches={}, keeps_index=False)


def rewritten(cuts: bool) -> Program:
    return CUT if cuts else WHOLE


def refuse(program: Program) -> str:
    raise CompileError("cut" if program.is_cut else "whole", ())


def test_a_program_that_builds_cut_stays_cut() -> None:
    assert build_cut_or_whole(rewritten, lambda program: "built") == (CUT, "built")


def test_a_cut_that_the_compiler_refuses_is_taken_back() -> None:
    def build(program: Program) -> str:
        return refuse(program) if program.is_cut else "built"

    assert build_cut_or_whole(rewritten, build) == (WHOLE, "built")


def test_what_is_wrong_is_told_of_the_whole_program() -> None:
    with pytest.raises(CompileError, match="whole"):
        build_cut_or_whole(rewritten, refuse)


def test_what_was_not_cut_is_built_once() -> None:
    built: list[bool] = []

    def build(program: Program) -> str:
        built.append(program.is_cut)
        return refuse(program)

    with pytest.raises(CompileError):
        build_cut_or_whole(lambda cuts: WHOLE, build)
    assert built == [False]


def test_nothing_is_linked_where_a_source_does_not_compile(tmp_path: Path) -> None:
    (tmp_path / "right.cpp").write_text("int right() { return 1; }\n")
    (tmp_path / "wrong.cpp").write_text("int wrong() { return }\n")
    steps = Steps(compiler=find_compiler(), folder=tmp_path, deadline=float("inf"))
    compiles = [
        ["-c", f"{tmp_path}/{n}.cpp", "-o", f"{tmp_path}/{n}.o"] for n in ("right", "wrong")
    ]
    results = steps.compile_and_link(compiles, ["-o", str(tmp_path / "program")])
    assert [status for status, _ in results] == [0, 1]
    assert "expected primary-expression" in results[1][1]
