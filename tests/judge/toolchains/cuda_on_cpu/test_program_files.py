from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cuda_on_cpu.program_files import program_files


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """The names of what a main.cu of some text leads to, among other files."""
    monkeypatch.chdir(tmp_path)
    for name in ("a/one.h", "a/two.h", "b/two.h", "b/cuda_runtime.h", "cuda_fp16.h", "c.cu"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("")
    Path("b/three.h").write_text('#include "two.h"\n#include "three.h"\n')

    def found(text: str, *include: str) -> list[str]:
        Path("main.cu").write_text(text)
        files = program_files([Path("main.cu")], [Path(folder) for folder in include])
        return [file.name for file in files][1:]

    return found


@pytest.mark.parametrize(
    ("text", "include", "expected"),
    [
        ('#include "a/one.h"\n', (), ["a/one.h"]),
        ('#include "one.h"\n', (), []),
        ('#include "one.h"\n', ("a",), ["a/one.h"]),
        ("#include <one.h>\n", ("b", "a"), ["a/one.h"]),
        ("#include <two.h>\n", ("b", "a"), ["b/two.h"]),
        ('  #  include "b/three.h"\n', (), ["b/three.h", "b/two.h"]),
        ('#include "a/../b/./two.h"\n#include "b/two.h"\n', (), ["b/two.h"]),
        ('#include "c.cu"\n', (), ["c.cu"]),
        ('// #include "c.cu"\n/*\n#include "c.cu"\n*/\n', (), []),
        ("#include <cuda_runtime.h>\n", ("b",), []),
        ('#include "cuda_fp16.h"\n', (), ["cuda_fp16.h"]),
        ("#include NAME\n#include <vector>\n", (), []),
    ],
)
def test_local_headers_are_found_and_others_are_left_to_the_compiler(
    names: object, text: str, include: tuple[str, ...], expected: list[str]
) -> None:
    assert callable(names)
    assert names(text, *include) == expected


def test_what_is_no_utf8_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "x.cu").write_bytes(b"\xef\xbb\xbfint x; // caf\xe9\n")
    (file,) = program_files([tmp_path / "x.cu"])
    assert file.text.startswith("int x;")
    assert file.text.encode("utf-8", "surrogateescape").endswith(b"caf\xe9\n")


def test_files_outside_of_the_current_folder_have_their_whole_name(tmp_path: Path) -> None:
    (tmp_path / "x.cu").write_text("")
    (file,) = program_files([tmp_path / "x.cu"])
    assert file.name == str(tmp_path / "x.cu")
    assert file.is_cuda


@pytest.mark.parametrize("size", [3_000_001, 5_000_000])
def test_a_file_that_is_data_is_refused(tmp_path: Path, size: int) -> None:
    (tmp_path / "x.cu").write_text("x" * size)
    with pytest.raises(CompileError, match=r"x\.cu has [35],.* 3,000,000 are the most"):
        program_files([tmp_path / "x.cu"])
