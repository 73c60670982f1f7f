from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cuda_gym.cli.main import main

SAXPY = """\
#include <cstdio>
#include <cstdlib>
#include "parts.h"
__global__ void saxpy(float a, float* x, float* y) { y[threadIdx.x] += a * x[threadIdx.x]; }
int main(int, char** text) {
  float *x, *y;
  cudaMallocManaged(&x, 400);
  cudaMallocManaged(&y, 400);
  for (int i = 0; i < 100; ++i) x[i] = i, y[i] = SHIFT;
  saxpy<<<1, 100>>>(atof(text[1]), x, y);
  cudaDeviceSynchronize();
  printf("%g\\n", y[99]);
  return 3;
}
"""


def run(*typed: str) -> subprocess.CompletedProcess[str]:
    """A program writes past what pytest captures, so it needs a process of its own."""
    command = [sys.executable, "-m", "cuda_gym", "run", *typed]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_program_runs_with_its_own_arguments_and_passes_its_status_on(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/parts.h").write_text("")
    (tmp_path / "saxpy.cu").write_text(SAXPY)
    typed = [str(tmp_path / "saxpy.cu"), "-I", str(tmp_path / "parts"), "-D", "SHIFT=1"]
    done = run(*typed, "--", "-2.5")
    assert (done.stdout, done.returncode) == ("-246.5\n", 3)


def test_what_does_not_compile_is_told_line_by_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.cu").write_text("int main() {\n  first;\n  second;\n}\n")
    assert main(["run", "wrong.cu"]) == 1
    told = capsys.readouterr().err
    assert "wrong.cu:2:3: error: 'first'" in told
    assert "wrong.cu:3:3: error: 'second'" in told


def test_what_the_device_has_not_is_told_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("library.cu").write_text("#include <cublas_v2.h>\nint main() {}\n")
    assert main(["run", "library.cu"]) == 1
    assert "library.cu:1: error: a CUDA library (cublas_v2.h)" in capsys.readouterr().err


def test_a_program_that_does_not_end_is_stopped_at_its_deadline(tmp_path: Path) -> None:
    (tmp_path / "spin.cu").write_text("int main() { for (volatile int x = 0;; ++x) {} }\n")
    done = run(str(tmp_path / "spin.cu"), "--deadline-s", "0.5")
    assert done.returncode == 124
    assert "no kernel was running" in done.stderr
    assert "The program was stopped after 0.5 s, its deadline." in done.stderr


@pytest.mark.parametrize(
    ("typed", "code", "told"),
    [
        (["run", "no/such/file.cu"], 2, "cannot be read: No such file"),
        (["run", __file__], 2, "is no source file"),
        (["run", "x.cu", "--deadline-s", "0"], 2, "--deadline-s is more than 0; got 0"),
        (["run"], 2, "name at least one .cu file"),
    ],
)
def test_what_cannot_be_run_is_told_with_a_remedy(
    typed: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed) == code
    assert told in capsys.readouterr().err


def test_torch_is_not_needed_to_run_a_program(tmp_path: Path) -> None:
    (tmp_path / "empty.cu").write_text("int main() {}\n")
    program = (
        "import sys, cuda_gym.cli.main as m\n"
        f"assert m.main(['run', {str(tmp_path / 'empty.cu')!r}]) == 0\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_file_without_a_main_is_told_what_to_put_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kernel.cu").write_text("__global__ void kernel() {}\n")
    assert main(["run", str(tmp_path / "kernel.cu")]) == 1
    assert "name a file beside it that has one" in capsys.readouterr().err
