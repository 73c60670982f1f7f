from __future__ import annotations

import multiprocessing
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Severity
from cuda_gym.core.task import Submission
from cuda_gym.errors import (
    CandidateTimeout,
    CompileError,
    MissingTool,
    StorageError,
    UnsupportedOnDevice,
)
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import find_compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime_build import runtime_library
from cuda_gym.judge.toolchains.registry import make_toolchain

SMALL = """__global__ void k(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1.0f;
}
extern "C" void go(float* x, int n) { k<<<(n + 31) / 32, 32>>>(x, n); }
"""


def submission(text: str, **others: str) -> Submission:
    return Submission.of({"kernels/k.cu": text, **others})


def _build_in_another_process(folder: Path, text: str) -> None:
    build = CpuToolchain(BuildCache(folder)).build(submission(text))
    assert Path(build.library).exists()


def test_a_build_runs_and_says_what_it_is(
    toolchain: CpuToolchain, compile_source: Callable[..., Any]
) -> None:
    program = compile_source(SMALL)
    x = np.zeros(100, np.float32)
    program("go", x, 100)
    assert (x == 1).all()
    build = program.build
    assert [(k.name, k.mode) for k in build.kernels] == [("k", "loop")]
    assert build.toolchain == toolchain.name
    assert "cuda_on_cpu" in build.toolchain
    assert build.diagnostics == ()


def test_a_second_build_is_found_in_the_cache(toolchain: CpuToolchain) -> None:
    first = toolchain.build(submission(SMALL))
    second = toolchain.build(submission(SMALL))
    assert second.cached
    assert (second.key, second.library, second.kernels) == (first.key, first.library, first.kernels)


def test_files_that_are_not_compiled_do_not_matter(toolchain: CpuToolchain) -> None:
    first = toolchain.build(submission(SMALL))
    second = toolchain.build(submission(SMALL, **{"model_new.py": "x = 1"}))
    third = toolchain.build(submission(SMALL + "\n"))
    assert first.key == second.key != third.key


def test_a_corrupt_library_is_built_again(tmp_path: Path, toolchain: CpuToolchain) -> None:
    build = toolchain.build(submission(SMALL + "// corrupt"))
    Path(build.library).write_bytes(b"half a library")
    again = toolchain.build(submission(SMALL + "// corrupt"))
    assert not again.cached
    assert Path(again.library).read_bytes()[:4] == b"\x7fELF"


def test_many_processes_may_build_the_same(cache_folder: Path, toolchain: CpuToolchain) -> None:
    text = SMALL + "// built by many"
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_build_in_another_process, args=(cache_folder, text))
        for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert toolchain.build(submission(text)).cached


def test_a_library_is_loaded_wherever_its_folder_lies(
    tmp_path: Path, toolchain: CpuToolchain
) -> None:
    folder = Path(toolchain.build(submission(SMALL)).library).parent
    folder.rename(tmp_path / "moved")
    try:
        script = (
            "import ctypes, sys\n"
            "library = ctypes.CDLL(sys.argv[1])\n"
            "x = (ctypes.c_float * 2)()\n"
            "library.go(x, 2)\n"
            "print(list(x))\n"
        )
        command = [sys.executable, "-c", script, str(tmp_path / "moved" / "kernels.so")]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    finally:
        (tmp_path / "moved").rename(folder)
    assert said.strip() == "[1.0, 1.0]"


# What the agent is told


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        (
            "__global__ void k(int* x) {\n  x[0] = y;\n}",
            2,
            10,
            "'y' was not declared in this scope",
        ),
        ("__global__ void k(int* x) {\n  x[0] = 1\n}", 2, 11, "expected ';' before '}' token"),
        (
            "__global__ void k(float* x, int n) {}\nvoid f(float* x) { k<<<1, 1>>>(x); }",
            2,
            None,
            "too few arguments to function 'void k(float*, int)'",
        ),
        (
            "__global__ void k(int* x) {}\nvoid f(float* x) {\n  int a = 1; k<<<1, 1>>>(x);\n}",
            3,
            None,
            "cannot convert 'float*' to 'int*'",
        ),
        ("\n\nvoid f() { none<<<1, 1>>>(); }", 3, 12, "'none' was not declared in this scope"),
        (
            "__global__ void k(float* x) {}\nvoid f(float* x) { k(x); }",
            2,
            22,
            "a __global__ function is launched with <<<grid, block>>>, not called",
        ),
        ('#include "missing.cuh"', 1, 10, "missing.cuh: No such file or directory"),
        ("__global__ void k(int* x) {\n  x[0] = 1;\n", 2, None, "expected '}' at end of input"),
        (
            "__global__ void k(char4* x) {\n  struct S { long a[3]; } s;\n  __shfl_sync(~0u, s, 0);\n}",
            3,
            14,
            "static assertion failed: a warp shuffle moves at most 8 bytes",
        ),
        ("extern int missing();\nint f() { return missing(); }", None, None, "undefined reference"),
    ],
)
def test_errors_are_told_in_the_agents_own_lines(
    toolchain: CpuToolchain, text: str, line: int | None, column: int | None, message: str
) -> None:
    with pytest.raises(CompileError) as error:
        toolchain.build(submission(text))
    first = error.value.diagnostics[0]
    assert message in first.message
    assert first.severity is Severity.ERROR
    assert first.line == line
    assert first.file == (None if line is None else "kernels/k.cu")
    assert column is None or first.column == column
    told = "\n".join([str(error.value), *map(str, error.value.diagnostics)])
    for ours in ("cuda_on_cpu", "CUDA_ON_CPU", "lambda", "/tmp", "auto:"):
        assert ours not in told


def test_an_error_in_a_header_of_the_submission_is_told_there(toolchain: CpuToolchain) -> None:
    header = "#pragma once\n__device__ float f(float x) {\n  return x +;\n}\n"
    with pytest.raises(CompileError) as error:
        toolchain.build(submission('#include "h.cuh"\n', **{"kernels/h.cuh": header}))
    first = error.value.diagnostics[0]
    assert (first.file, first.line, first.column) == ("kernels/h.cuh", 3, 13)


def test_an_error_in_two_files_is_told_for_both(toolchain: CpuToolchain) -> None:
    with pytest.raises(CompileError, match=r"\(2 errors in all\)") as error:
        toolchain.build(submission("int a = b;", **{"kernels/l.cu": "\nint c = d;"}))
    assert [(d.file, d.line) for d in error.value.diagnostics] == [
        ("kernels/k.cu", 1),
        ("kernels/l.cu", 2),
    ]


def test_warnings_are_kept_with_the_build_and_in_the_cache(toolchain: CpuToolchain) -> None:
    text = (
        "__device__ int f(int x) {\n  if (x) return 1;\n}\n"
        "__global__ void k(int* x) { *x = f(*x); }\nvoid go(int* x) { k<<<1, 1>>>(x); }"
    )
    first, second = toolchain.build(submission(text)), toolchain.build(submission(text))
    assert second.cached
    assert first.diagnostics == second.diagnostics
    (warning,) = first.diagnostics
    assert (warning.severity, warning.file, warning.line) == (Severity.WARNING, "kernels/k.cu", 3)


def test_a_flood_of_errors_is_cut(toolchain: CpuToolchain) -> None:
    with pytest.raises(CompileError) as error:
        toolchain.build(submission("\n".join(f"int a{i} = b{i};" for i in range(500))))
    assert len(error.value.diagnostics) <= 30


def test_unsupported_features_are_refused_before_compiling(toolchain: CpuToolchain) -> None:
    with pytest.raises(
        UnsupportedOnDevice, match=r"kernels/k\.cu:2: .*not available on the cpu device"
    ):
        toolchain.build(submission("int x;\n#include <thrust/sort.h>\n"))


def test_an_empty_kernel_file_builds(toolchain: CpuToolchain) -> None:
    assert toolchain.build(submission("")).kernels == ()


# Limits


def test_a_compiler_that_takes_too_long_is_stopped(toolchain: CpuToolchain) -> None:
    endless = (
        "template <int N> struct F { static constexpr long v = F<N - 1>::v + F<N - 2>::v; };\n"
        "constexpr int spin(int n) { int s = 0; for (int i = 0; i < n; ++i) s ^= i; return s; }\n"
        + "\n".join(f"constexpr int a{i} = spin(2000000 + {i});" for i in range(50))
    )
    started = time.monotonic()
    with pytest.raises(CandidateTimeout, match="took longer than"):
        toolchain.build(submission(endless), deadline_s=0.5)
    assert time.monotonic() - started < 20
    assert toolchain.build(submission(SMALL)).library


def test_no_compiler_is_told_with_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_GYM_CXX", raising=False)
    with pytest.raises(MissingTool, match=r"apt install g\+\+.*ziglang"):
        CpuToolchain(BuildCache(tmp_path)).build(submission(SMALL))


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "builds").write_text("in the way")
    with pytest.raises(StorageError, match="cannot be written"):
        CpuToolchain(BuildCache(tmp_path)).build(submission(SMALL))


FULL_DISK = """
import ctypes, os, sys
from pathlib import Path
libc = ctypes.CDLL(None)
uid, gid = os.getuid(), os.getgid()
if libc.unshare(0x10000000 | 0x00020000) != 0:
    sys.exit(77)
Path("/proc/self/setgroups").write_text("deny")
Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
if libc.mount(b"tmpfs", sys.argv[1].encode(), b"tmpfs", 0, b"size=256k") != 0:
    sys.exit(77)
from cuda_gym.core.task import Submission
from cuda_gym.errors import StorageError
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
try:
    CpuToolchain(BuildCache(Path(sys.argv[1]))).build(Submission.of({"kernels/k.cu": sys.argv[2]}))
except StorageError as error:
    print(error)
"""


def test_a_disk_that_the_compiler_finds_full_is_told(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path), SMALL],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    if ended.returncode == 77:
        pytest.skip("this machine gives no disk of its own to a test")
    assert re.search(r"No space left on device.*CUDA_GYM_CACHE", ended.stdout), ended.stderr


def test_a_source_that_says_the_disk_is_full_is_wrong_itself(toolchain: CpuToolchain) -> None:
    with pytest.raises(CompileError):
        toolchain.build(submission("#error No space left on device\n" + SMALL))


def test_the_registry_knows_the_toolchain() -> None:
    assert isinstance(make_toolchain(Device("cpu")), CpuToolchain)


def test_nothing_is_left_beside_the_builds(toolchain: CpuToolchain, tmp_path: Path) -> None:
    shared = Path(toolchain.build(submission(SMALL)).library).parent.parent
    runtime = runtime_library(BuildCache(shared.parent), find_compiler()).parent
    shutil.copytree(runtime, tmp_path / "builds" / runtime.name)  # else it would be built again
    CpuToolchain(BuildCache(tmp_path)).build(submission(SMALL))
    assert not [path for path in (tmp_path / "builds").iterdir() if path.name[0] == "."]
