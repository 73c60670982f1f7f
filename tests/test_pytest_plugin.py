"""pytest takes CUDA programs for tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RIGHT = "__managed__ int x;\n__global__ void k() { x = 3; }\nint main() { k<<<1, 1>>>(); return x != 3; }\n"
RACE = "__device__ int x;\n__global__ void k() { ++x; }\nint main() { k<<<1, 64>>>(); }\n"


def run_pytest(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


def test_a_program_is_a_test_that_passes_where_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "test_right.cu").write_text(RIGHT)
    (tmp_path / "test_race.cu").write_text(RACE)
    (tmp_path / "helper.cu").write_text("no program\n")
    said = run_pytest(tmp_path)
    assert "1 failed, 1 passed" in said
    assert "data race in kernel k: 4 bytes at `x` + 0 (device variable)" in said
    assert "test_race.cu:2" in said


def test_headers_are_found_where_the_settings_say(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\ncuda_include = include\n")
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "three.cuh").write_text("#define THREE 3\n")
    (tmp_path / "test_header.cu").write_text(
        "#include <three.cuh>\n" + RIGHT.replace("= 3", "= THREE")
    )
    assert "1 passed" in run_pytest(tmp_path)


def test_a_compile_error_is_told_in_the_words_of_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "test_broken.cu").write_text("int main() { return missing; }\n")
    said = run_pytest(tmp_path)
    assert "test_broken.cu:1:21: error: 'missing' was not declared in this scope" in said
    assert "Traceback" not in said
