from __future__ import annotations

import time
from pathlib import Path

import pytest

from cuda_gym.errors import CandidateTimeout, MissingTool
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import cpu_identity, find_compiler


def shell(script: str) -> Compiler:
    return Compiler(command=("/bin/sh", "-c", script), version="sh", identity="")


def test_a_compiler_is_found_with_its_version() -> None:
    compiler = find_compiler()
    assert compiler.version.split()[0] in ("g++", "clang++")
    assert compiler.version.split()[1][0].isdigit()
    assert compiler is find_compiler()


def test_the_environment_names_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "my-compiler"
    other.write_text("#!/bin/sh\necho 'my clang version 99.1.2'\n")
    other.chmod(0o755)
    monkeypatch.setenv("CUDA_GYM_CXX", f"{other} --fast")
    compiler = find_compiler()
    assert compiler.command == (str(other), "--fast")
    assert compiler.version == "clang++ 99.1.2"


@pytest.mark.parametrize(
    ("named", "message"), [("no-such-program", "no program on PATH"), ("false", "does not run")]
)
def test_a_compiler_that_is_none_is_told(
    named: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_GYM_CXX", named)
    with pytest.raises(MissingTool, match=message):
        find_compiler()


def test_what_it_says_and_how_it_ends_are_told(tmp_path: Path) -> None:
    status, said = shell("echo out; echo err >&2; exit 3").run((), folder=tmp_path, deadline_s=10)
    assert (status, sorted(said.split())) == (3, ["err", "out"])


def test_it_is_stopped_with_all_its_children_at_the_deadline(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with pytest.raises(CandidateTimeout, match="took longer than 0 s"):
        shell(f"sleep 100 & echo $! > {pid_file}; wait").run((), folder=tmp_path, deadline_s=0.3)
    for _ in range(100):
        if not _is_running(int(pid_file.read_text())):
            return
        time.sleep(0.05)
    pytest.fail("a child of the compiler outlived the deadline")


def _is_running(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_it_cannot_say_more_than_fits(tmp_path: Path) -> None:
    _, said = shell("head -c 5000000 /dev/zero | tr '\\0' x").run(
        (), folder=tmp_path, deadline_s=10
    )
    assert len(said) == 256 << 10


def test_it_cannot_take_all_memory(tmp_path: Path) -> None:
    _, said = shell("ulimit -v; ulimit -f; ulimit -c").run((), folder=tmp_path, deadline_s=10)
    memory, size, core = said.split()
    assert int(memory) <= 4 << 20
    assert size != "unlimited"
    assert core == "0"


def test_it_does_not_see_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "seed")
    _, said = shell("echo $SECRET$LC_ALL").run((), folder=tmp_path, deadline_s=10)
    assert said.strip() == "C"


def test_the_processor_is_described() -> None:
    assert len(cpu_identity()) > 3
