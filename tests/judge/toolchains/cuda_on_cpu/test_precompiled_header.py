from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cuda_on_cpu.compile_steps import Steps
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import find_compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.native_build import compile_flags, framed
from cuda_gym.judge.toolchains.cuda_on_cpu.precompiled_header import precompile
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime_build import runtime_library

only_gcc = pytest.mark.skipif(not find_compiler().is_gcc, reason="the compiler is not GCC")
KERNEL = (
    "#include <cuda_runtime.h>\n__global__ void k(float* x) { x[threadIdx.x] = sqrtf(2.0f); }\n"
)


def headers_of(folder: Path, cache: Path, *, checking: bool, keeps_index: bool) -> str:
    """What GCC read for a kernel: with `!` before a precompiled header, with `x` before one that does not fit."""
    compiler = find_compiler()
    runtime = runtime_library(BuildCache(cache), compiler, checking=checking)
    source = folder / "k.cu"
    source.write_text(framed(KERNEL, "k.cu", keeps_index=keeps_index, is_source=True))
    flags = compile_flags(compiler, checking=checking, runtime=runtime)
    status, said = compiler.run(
        ["-H", "-fsyntax-only", *flags, str(source)], folder=folder, deadline_s=60
    )
    assert status == 0, said
    return said


@only_gcc
@pytest.mark.parametrize("checking", [False, True])
def test_a_kernel_is_compiled_with_headers_that_were_read_before(
    checking: bool, tmp_path: Path, cache_folder: Path
) -> None:
    said = headers_of(tmp_path, cache_folder, checking=checking, keeps_index=checking)
    assert said.startswith("! ")
    assert "fibers.h" not in said


@only_gcc
def test_under_another_macro_the_header_itself_is_read(tmp_path: Path, cache_folder: Path) -> None:
    said = headers_of(tmp_path, cache_folder, checking=False, keeps_index=True)
    assert said.startswith("x ")
    assert "fibers.h" in said


def test_a_compiler_that_is_not_gcc_does_without(tmp_path: Path) -> None:
    other = replace(find_compiler(), version="clang++ 19")
    steps = Steps(compiler=other, folder=tmp_path, deadline=float("inf"))
    assert precompile(steps, compile_flags(other)[:-2], keeps_index=False) == {}


@only_gcc
def test_a_compiler_that_cannot_do_it_does_without(tmp_path: Path) -> None:
    steps = Steps(compiler=find_compiler(), folder=tmp_path, deadline=float("inf"))
    assert precompile(steps, ["-there-is-no-such-option"], keeps_index=False) == {}
