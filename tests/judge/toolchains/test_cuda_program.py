"""Whole programs: built from files as they lie on a disk, and run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from cuda_gym.errors import CompileError, UnsupportedOnDevice
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cuda_program import (
    DEADLINE_STATUS,
    ProgramBuild,
    ProgramRun,
    build_program,
    run_program,
)

PROGRAMS = Path(__file__).parent / "programs"
SHOW = "#include <cstdio>\nint main(int n, char** text) { for (int i = 1; i < n; ++i) puts(text[i]); return 7; }\n"


@pytest.fixture(scope="module")
def cache(cache_folder: Path) -> BuildCache:
    return BuildCache(cache_folder)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("latin-1"))


def build(cache: BuildCache, folder: Path, text: str, **more: Any) -> ProgramBuild:
    write(folder, {"main.cu": text})
    return build_program([folder / "main.cu"], cache=cache, **more)


def run(cache: BuildCache, folder: Path, text: str, **more: Any) -> ProgramRun:
    return run_program(build(cache, folder, text), deadline_s=20, **more)


WHOLE = (["host_answers.cu"], ["kernel_values.cu"], ["whole/main.cu", "whole/elsewhere.cu"])


@pytest.mark.parametrize("names", WHOLE, ids=lambda names: str(names[0]))
def test_a_program_gets_what_it_would_get_from_a_gpu(cache: BuildCache, names: list[str]) -> None:
    ran = run_program(build_program([PROGRAMS / name for name in names], cache=cache))
    assert (ran.output, ran.status) == ("ok\n", 0)


FILES = {
    "common/check.h": '#pragma once\n#include "../inc/deep.cuh"\n#define LINE __FILE__, __LINE__\n',
    "inc/deep.cuh": "__device__ int twice(int x) { return 2 * x; }\n"
    "template <class T> __global__ void fill(T* x) { x[threadIdx.x] = twice(threadIdx.x); }\n",
    "inc/angled.h": "#define ANGLED 5\n",
    "src/more.cpp": '#include <cuda_runtime.h>\nextern "C" int ten(int);\n'
    "#ifdef __CUDACC__\n#error\n#endif\nint more(int x) { return ten(x) + 1; }\n",
    "src/ten.c": "int ten(int class) { return class * 10; }\n",
    "src/main.cu": '// caf\xe9\n#include "../elsewhere/../common/check.h"\n#include <angled.h>\n'
    "#include <cstdio>\nint more(int);\n"
    "int main() {\n  int* x; cudaMallocManaged(&x, 400);\n  fill<<<1, 100>>>(x);\n"
    '  cudaDeviceSynchronize();\n  printf("%d %d %d %s:%d", x[99], more(N), ANGLED, LINE);\n}\n',
}


def test_headers_are_found_wherever_they_lie_and_keep_their_names(
    cache: BuildCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    sources = [Path("src/main.cu"), Path("src/more.cpp"), Path("src/ten.c")]
    built = build_program(sources, include=[Path("inc")], defines=["N=4"], cache=cache)
    assert run_program(built).output == "198 41 5 src/main.cu:10"
    again = build_program(sources, include=[Path("inc")], defines=["N=4"], cache=cache)
    assert again.cached
    assert again.key == built.key
    (tmp_path / "inc/angled.h").write_text("#define ANGLED 6\n")
    changed = build_program(sources, include=[Path("inc")], defines=["N=5"], cache=cache)
    assert run_program(changed).output == "198 51 6 src/main.cu:10"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"main.cu": '#include "nope.h"\nint main() {}\n'}, "main.cu:1:10: error: nope.h: No such"),
        ({"main.cu": '#include "a/x.h"\nint main() {}\n', "a/x.h": "\nint y = z;\n"}, "a/x.h:2:9: error: 'z'"),
        ({"main.cu": "int main() { return\n  lost; }\n"}, "main.cu:2:3: error: 'lost'"),
        ({"main.cu": "void f() {}\n"}, "undefined reference to `main'"),
        ({"main.cu": "void f() { k<<<1, 2; }\n"}, "main.cu:1:13: error: <<< without >>>"),
        ({"main.cu": "int table[] = {" + "1,\n" * 1_100_000 + "};\n"}, "bytes; 3,000,000 are the most"),
    ],
)  # fmt: skip
def test_what_does_not_compile_is_told_with_its_real_place(
    cache: BuildCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], told: str
) -> None:  # fmt: skip
    write(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    started = time.monotonic()
    with pytest.raises(CompileError) as error:
        build_program([Path("main.cu")], cache=cache)
    assert told in str(error.value)
    assert time.monotonic() - started < 20


def test_files_that_cannot_be_compiled_are_named(cache: BuildCache, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="name at least one"):
        build_program([], cache=cache)
    with pytest.raises(CompileError, match=r"nope\.cu cannot be read: No such file"):
        build_program([tmp_path / "nope.cu"], cache=cache)
    with pytest.raises(CompileError, match=r"x\.o is no source file; the suffixes"):
        build_program([tmp_path / "x.o"], cache=cache)


TEXTURES = "inline float read(cudaTextureObject_t t, int i) { return tex1Dfetch<float>(t, i); }\n"


def test_what_the_device_has_not_is_refused_where_it_is_used(
    cache: BuildCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    unused = "template <class T> __device__ T size(T x) { T y; asm(\"popc %0, %1;\" : \"=r\"(y) : \"r\"(x)); return y; }\n"  # fmt: skip
    assert run(cache, tmp_path, unused + SHOW).status == 7
    with pytest.raises(UnsupportedOnDevice, match=r"main\.cu:1: texture and surface memory is not"):
        build(cache, tmp_path, TEXTURES + SHOW)
    used = unused + "__global__ void k(int* x) { *x = size(*x); }\nvoid f() { k<<<1, 1>>>(0); }\n"
    with pytest.raises(UnsupportedOnDevice, match=r"main\.cu:1: inline PTX \(asm\) is not"):
        build(cache, tmp_path, used + SHOW)


def test_a_program_gets_its_arguments_its_folder_and_its_environment(
    cache: BuildCache, tmp_path: Path
) -> None:
    built = build(cache, tmp_path, SHOW)
    ran = run_program(built, ["a b", "--", "-x"])
    assert (ran.output, ran.status) == ("a b\n--\n-x\n", 7)
    text = '#include <cstdio>\n#include <cstdlib>\nint main() { FILE* f = fopen("here", "w"); puts(getenv("WORD")); return !f; }'  # fmt: skip
    (tmp_path / "folder").mkdir()
    ran = run(cache, tmp_path, text, cwd=tmp_path / "folder", environment={"WORD": "said"})
    assert (ran.output, ran.status) == ("said\n", 0)
    assert (tmp_path / "folder/here").exists()


def test_more_output_than_anybody_reads_is_cut(cache: BuildCache, tmp_path: Path) -> None:
    text = '#include <cstdio>\nint main() { for (int i = 0; i < 3000000; ++i) puts("0123456789"); return 3; }'
    ran = run(cache, tmp_path, text)
    assert ran.status == 3
    assert len(ran.output) == 8 << 20


SPIN = """\
#include <unistd.h>
#include <cstdio>
__global__ void waits(volatile int* x) {
  __syncthreads();
  if (threadIdx.x == 5) while (*x == 0) {}
  __syncthreads();
}
int main() {
  const int child = fork();
  if (child == 0) for (;;) pause();
  int* x;
  cudaMallocManaged(&x, 4);
  printf("%d\\n", child);
  fflush(stdout);
  waits<<<1, 32>>>(x);
  cudaDeviceSynchronize();
}
"""


def test_at_its_deadline_a_program_says_what_its_kernel_waits_for_and_leaves_nothing_behind(
    cache: BuildCache, tmp_path: Path
) -> None:
    ran = run_program(build(cache, tmp_path, SPIN), deadline_s=1.0)
    assert ran.has_missed_deadline
    assert ran.status == DEADLINE_STATUS
    pid, waits, stopped = ran.output.splitlines()
    assert waits.startswith("kernel waits, block (0,0,0) has not ended")
    assert stopped == "The program was stopped after 1 s, its deadline."
    assert is_over(int(pid))


def is_over(pid: int) -> bool:
    """Whether a process has ended, be it that nobody has asked for its status yet."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


FAULTS = """\
#include <cstdio>
__device__ __noinline__ int down(int n, volatile int* x) {
  volatile int a[16];
  a[n & 15] = n;
  return down(n + 1, x) + a[3] + *x;
}
__global__ void recurses(int* x) { *x = down(*x, x); }
__global__ void strays(int* x) { x[(size_t)1 << 40] = 1; }
__global__ void diverges() { if (threadIdx.x < 16) __syncwarp(); else __shfl_sync(0xffffffff, 1, 0); }
int main(int, char** text) {
  int* x;
  cudaMallocManaged(&x, 4);
  switch (text[1][0]) {
    case 'r': recurses<<<1, 1>>>(x); break;
    case 'h': return down(1, x);
    case 's': strays<<<1, 1>>>(x); break;
    case 'd': diverges<<<1, 32>>>(); break;
  }
  puts(cudaGetErrorName(cudaDeviceSynchronize()));
  puts(cudaGetErrorName(cudaMalloc(&x, 4)));
  puts(cudaGetErrorName(cudaGetLastError()));
  return cudaGetLastError() == cudaErrorLaunchFailure ? 0 : 1;
}
"""


def test_faults_are_told_in_one_line(cache: BuildCache, tmp_path: Path) -> None:
    built = build(cache, tmp_path, FAULTS)
    no_stack = "no stack is left: recursion without end, or local variables that are too large, "
    for which, told in (
        ("r", no_stack + "in kernel recurses, block (0,0,0)\n"),
        ("h", no_stack + "outside any kernel\n"),
    ):
        ran = run_program(built, [which])
        assert (ran.output, ran.status) == (told, 139)
    ran = run_program(built, ["s"])
    assert ran.output.startswith("illegal address 0x")
    assert ran.output.endswith(" in kernel strays, block (0,0,0)\n")
    assert ran.status == 139


def test_what_was_printed_before_a_fault_is_not_lost(cache: BuildCache, tmp_path: Path) -> None:
    text = '#include <cstdio>\nint main() { puts("so far"); *(volatile int*)8 = 1; }\n'
    ran = run(cache, tmp_path, text)
    assert ran.output == "so far\nillegal address 0x8 outside any kernel\n"
    assert ran.status == 139


def test_after_a_kernel_has_failed_every_call_fails_likewise(
    cache: BuildCache, tmp_path: Path
) -> None:
    ran = run_program(build(cache, tmp_path, FAULTS), ["d"])
    told, *errors = ran.output.splitlines()
    assert "thread 0 is at __syncwarp while thread 16 of its warp is at a shuffle" in told
    assert errors == ["cudaErrorLaunchFailure"] * 3
    assert ran.status == 0
