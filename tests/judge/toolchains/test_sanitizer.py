"""compute-sanitizer is found, called with what is needed, and its logs become findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.core.findings import Build, KernelResources, MemoryFinding
from cuda_gym.judge.toolchains.sanitizer import (
    TOOLS,
    find_sanitizer,
    read_findings,
    sanitizer_command,
    why_no_sanitizer,
)

LOGS = Path(__file__).parent / "sanitizer_logs"
"""Of version 2025.3, of one program with a bug of each kind."""


def build(*kernels: str) -> Build:
    resources = tuple(KernelResources(name=name) for name in kernels)
    return Build(
        key="k", library="/l.so", toolchain="nvcc", build_s=0.0, cached=False, kernels=resources
    )


def read(log: str, *kernels: str) -> tuple[MemoryFinding, ...]:
    return read_findings((LOGS / log).read_text(encoding="utf-8"), build(*kernels))


@pytest.fixture
def _nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "site"))


@pytest.mark.parametrize("log", ["memcheck_clean.txt", "memcheck_launch.txt"])
def test_a_clean_log_and_a_refused_launch_are_no_findings(log: str) -> None:
    assert read(log) == ()


@pytest.mark.parametrize(
    ("log", "kind", "kernel", "said"),
    [
        ("memcheck.txt", "out of bounds", "shared_oob", "thread (0, 0, 0) of block (0, 0, 0) writes at kernels/bugs.cu:12"),
        ("racecheck.txt", "data race", "race", "thread (69, 0, 0) of block (0, 0, 0) writes at kernels/bugs.cu:7; thread (32, 0, 0) of block (0, 0, 0) read it at kernels/bugs.cu:8"),
        ("initcheck.txt", "uninitialised read", "uninitialised", "thread (0, 0, 0) of block (0, 0, 0) reads at kernels/bugs.cu:10"),
    ],
)  # fmt: skip
def test_many_reports_of_one_line_are_one_finding(
    log: str, kind: str, kernel: str, said: str
) -> None:
    [finding] = read(log)
    assert (finding.kind, finding.kernel) == (kind, kernel)
    assert str(finding).endswith(said)


def test_what_a_kernel_of_torch_did_is_left_out() -> None:
    text = (
        "========= Uninitialized __global__ memory read of size 4 bytes\n"
        "=========     at void at::copy<float>(float *)+0x60 in Copy.cu:10\n"
        "=========     by thread (0,0,0) in block (0,0,0)\n"
    )
    assert read_findings(text, build("mine<3>")) == ()
    assert len(read_findings(text, build())) == 1
    assert len(read_findings(text.replace("at::copy<float>", "mine<3>"), build("mine<3>"))) == 1


def test_a_long_log_is_read_in_part() -> None:
    line = "========= Invalid __global__ write of size 4 bytes\n=========     at k()+0x1 in kernels/a.cu:{}\n"
    text = "".join(line.format(number) for number in range(200))
    assert len(read_findings(text, build())) == 40


@pytest.mark.parametrize("text", ["", "=========", "no prefix at all\n", "========= \n=\n", "\0"])
def test_what_is_no_log_has_no_findings(text: str) -> None:
    assert read_findings(text, build()) == ()


@pytest.mark.usefixtures("_nothing_installed")
def test_it_is_found_beside_a_toolkit_or_the_remedy_is_told(tmp_path: Path) -> None:
    assert find_sanitizer(usual=(tmp_path / "cuda",)) is None
    assert "toolkit: put its bin folder on PATH" in why_no_sanitizer(usual=(tmp_path / "cuda",))
    program = tmp_path / "cuda" / "compute-sanitizer" / "compute-sanitizer"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    assert find_sanitizer(usual=(tmp_path / "cuda",)) is None  # it cannot be run
    program.chmod(0o755)
    assert find_sanitizer(usual=(tmp_path / "cuda",)) == program
    assert why_no_sanitizer(usual=(tmp_path / "cuda",)) == ""


def test_only_the_kernels_of_the_submission_are_looked_at_but_for_who_wrote_what() -> None:
    for tool in TOOLS:
        words = sanitizer_command(Path("cs"), tool, Path("log"), ["ns::tiles<128>", "add"])
        filters = [words[i + 1] for i, word in enumerate(words) if word == "--kernel-name"]
        assert filters == ([] if tool == "initcheck" else ["kns=add", "kns=tiles"])
        assert words[words.index("--tool") + 1] == tool


def test_a_kernel_without_a_plain_name_lifts_the_filter() -> None:
    assert "--kernel-name" not in sanitizer_command(Path("cs"), "memcheck", Path("l"), ["_Z?", "a"])
