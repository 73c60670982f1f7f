"""Warp intrinsics without a mask; see `programs/whole/legacy_warp.cu`."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.core.findings import Severity
from cuda_gym.errors import UnsupportedOnDevice
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Mode
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite
from cuda_gym.judge.toolchains.cuda_program import build_program, run_program

PROGRAM = Path(__file__).parents[1] / "programs" / "whole" / "legacy_warp.cu"
NAMES = ("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__ballot", "__any", "__all")


def kernel(name: str) -> str:
    arguments = "x[threadIdx.x], 1" if "shfl" in name else "x[threadIdx.x]"
    return f"\n__global__ void k(int* x) {{\n  x[threadIdx.x] = {name}({arguments});\n}}\n"


@pytest.mark.parametrize("checking", [False, True], ids=["plain", "checking"])
def test_the_lanes_that_arrive_together_take_part(cache_folder: Path, checking: bool) -> None:
    build = build_program([PROGRAM], checking=checking, cache=BuildCache(cache_folder))
    ran = run_program(build, deadline_s=20)
    assert (ran.output, ran.status) == ("ok\n", 0)
    lines = {number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1)
             if any(f"{name}(" in line for name in NAMES)}  # fmt: skip
    assert {d.line for d in build.diagnostics} == lines
    assert {d.severity for d in build.diagnostics} == {Severity.WARNING}
    for name in NAMES:
        assert any(f"use {name}_sync, whose" in d.message for d in build.diagnostics)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_that_use_one_wait_as_fibers(name: str) -> None:
    program = rewrite(
        {"k.cu": kernel(name) + "void f() { k<<<1, 32>>>(0); }\n"}, is_submission=False
    )
    assert program.kernels == {"k": Mode.FIBERS}


@pytest.mark.parametrize("name", NAMES)
def test_a_submission_that_uses_one_is_refused_with_its_replacement(name: str) -> None:
    with pytest.raises(UnsupportedOnDevice) as refusal:
        rewrite({"kernels/k.cu": kernel(name)})
    assert str(refusal.value).startswith(
        f"kernels/k.cu:3: {name}, which is gone since sm_70, is not"
    )
    assert f"; use {name}_sync, whose first argument" in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        "// __shfl(x, 1)\nint __shfl_count, __anything;\n",
        "#define __shfl(x, lane) __shfl_sync(0xffffffff, x, lane)\n" + kernel("__shfl"),
        "__device__ int __any(int x) { return __any_sync(~0u, x); }\n" + kernel("__any"),
        f"#if CUDART_VERSION < 9000\n{kernel('__all')}#else\n{kernel('__all_sync')}#endif\n",
        f"#if __CUDACC_VER_MAJOR__ >= 9\nint x;\n#else\n{kernel('__ballot')}#endif\n",
    ],
)
def test_a_submission_may_have_its_own_or_one_for_old_versions(text: str) -> None:
    rewrite({"kernels/k.cu": text})


def test_a_program_that_defines_one_calls_its_own(tmp_path: Path, cache_folder: Path) -> None:
    (tmp_path / "main.cu").write_text(
        "#include <cstdio>\n"
        "template <class T> __device__ T __shfl(T x, int lane, int width = 32) { return 10 * x; }\n"
        "__device__ int __any(int) { return 7; }\n"
        '__global__ void k() { printf("%d %d\\n", __shfl(4, 0), __any(0)); }\n'
        "int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n"
    )
    build = build_program([tmp_path / "main.cu"], cache=BuildCache(cache_folder))
    ran = run_program(build, deadline_s=20)
    assert (ran.output, ran.status, build.diagnostics) == ("40 7\n", 0, ())
