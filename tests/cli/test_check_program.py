"""`cuda-gym check` names what is wrong with a program, and has an exit code for each end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cuda_gym.cli.main import main

RACE = """\
#include <cstdio>
__global__ void reverse(float* x) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  BARRIER
  x[threadIdx.x] = tile[63 - threadIdx.x];
}
int main(int count, char** arguments) {
  float* x;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  reverse<<<1, 64>>>(x);
  std::puts(count > 1 ? arguments[1] : "no argument");
  return STATUS;
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "reverse.cu"
    path.write_text(RACE)
    return path


def check(program: Path, *options: str, barrier: str = "", status: int = 0) -> int:
    return main(
        ["check", str(program), "-D", f"BARRIER={barrier}", "-D", f"STATUS={status}", *options]
    )


def test_a_race_is_told_with_the_lines_of_both_sides(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(program) == 1
    told = capsys.readouterr().out
    assert "data race in kernel reverse: 4 bytes at `tile` + 128 (shared memory)" in told
    assert "reverse.cu:4: thread (32,0,0) of block (0,0,0) writes" in told
    assert "x[threadIdx.x] = tile[63 - threadIdx.x];" in told
    assert "2 found: uninitialised read, data race." in told


def test_a_clean_program_ends_with_its_own_status(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(program, barrier="__syncthreads();") == 0
    assert "the memory check found nothing" in capsys.readouterr().out
    assert check(program, barrier="__syncthreads();", status=7) == 7
    assert "found nothing. But the program ended with status 7." in capsys.readouterr().out


def test_the_document_holds_everything(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(program, "--json", "--", "an argument") == 1
    streams = capsys.readouterr()
    document = json.loads(streams.out)
    assert {finding["kind"] for finding in document["findings"]} == {
        "data race",
        "uninitialised read",
    }
    assert document["status"] == 0
    assert "an argument" in streams.err


def test_what_does_not_compile_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.cu"
    path.write_text("int main() { return missing; }\n")
    assert main(["check", str(path)]) == 1
    assert "broken.cu:1" in capsys.readouterr().err


def test_what_was_found_before_a_fault_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fault.cu"
    path.write_text(
        "__device__ int x;\n__global__ void k() { ++x; }\n"
        "int main() { k<<<1, 32>>>(); *(volatile int*)8 = 1; }\n"
    )
    assert main(["check", str(path)]) == 1
    assert "data race in kernel k" in capsys.readouterr().out
