"""Nsight Compute's tables as numbers, and its refusals as remedies."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.judge.profiling.counters import (
    AS_ADMIN,
    METRICS,
    counters_command,
    explain_refusal,
    find_ncu,
    read_counters,
    unknown_metrics,
    why_no_counters,
)

RAW = Path(__file__).parent / "counter_tables" / "raw.csv"
"""Three kernels of torch on an H200: a matrix product, a softmax, an addition."""

LONG = """\
==PROF== Profiling "scale": 0%....50%....100% - 9 passes
"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","7","void tiles<(int)128>(float *, int)","","dram__throughput.avg.pct_of_peak_sustained_elapsed","","n/a"
"0","7","void tiles<(int)128>(float *, int)","","gpu__time_duration.sum","usecond","211.94"
"0","7","void tiles<(int)128>(float *, int)","","dram__bytes.sum","Mbyte","2,000.00"
"1","7","void tiles<(int)128>(float *, int)","","gpu__time_duration.sum","msecond","1.20"
"""


def test_the_kernel_that_took_most_comes_first_with_its_numbers() -> None:
    product, softmax, addition = read_counters(RAW.read_text(encoding="utf-8"))
    assert product.duration_us == pytest.approx(2673.824)
    assert (product.registers, product.shared_bytes) == (254, 68608)
    assert product.limited_by == "registers"
    assert softmax.limited_by is None
    assert [what for what, _ in softmax.stalls] == ["global or local memory", "__syncthreads()"]
    assert addition.dram_percent == pytest.approx(74.25)
    assert addition.dram_gb_per_s == pytest.approx(3569.0, rel=1e-3)
    assert addition.bank_conflicts is None  # that metric was not asked for


def test_a_table_with_a_row_a_metric_is_read_as_well() -> None:
    [kernel] = read_counters(LONG)
    assert (kernel.name, kernel.launches) == ("tiles<128>", 2)
    assert kernel.duration_us == pytest.approx(1200.0)
    assert kernel.dram_percent is None


@pytest.mark.parametrize(
    "text", ["", "==ERROR== no", '"ID"\n', '"Kernel Name"\n""\n', '"a,b\n"\0"', "\n\n"]
)
def test_what_is_no_table_has_no_counters(text: str) -> None:
    assert read_counters(text) == ()


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "NVreg_RestrictProfilingToAdminUsers=0"),
        ("==ERROR== Profiling failed because a driver resource was unavailable.", "dcgmi profile --pause"),
        ("==WARNING== No kernels were profiled.", "version that belongs to the driver"),
        ("==ERROR== Profiling is not supported on device 0", "a MIG slice"),
        ("==ERROR== Something new.", "it said: Something new."),
        ("", "it said: nothing."),
    ],
)  # fmt: skip
def test_a_refusal_is_told_with_its_remedy(said: str, remedy: str) -> None:
    assert remedy in explain_refusal(said)


@pytest.fixture
def _nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for variable in ("CUDA_HOME", "CUDA_PATH", AS_ADMIN):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "site"))


@pytest.mark.usefixtures("_nothing_installed")
def test_what_stands_in_the_way_is_known_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters, usual = tmp_path / "params", (tmp_path / "cuda",)
    assert "There is no ncu" in why_no_counters(usual=usual, parameters=parameters)
    program = tmp_path / "cuda" / "bin" / "ncu"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_ncu(usual=usual) == program
    assert why_no_counters(usual=usual, parameters=parameters) == ""
    parameters.write_text("ResmanDebugLevel: 1\nRmProfilingAdminOnly: 1\n")
    assert "administrators only" in why_no_counters(usual=usual, parameters=parameters)
    monkeypatch.setenv(AS_ADMIN, "1")
    assert why_no_counters(usual=usual, parameters=parameters) == ""
    parameters.write_text("RmProfilingAdminOnly: 0\n")
    monkeypatch.delenv(AS_ADMIN)
    assert why_no_counters(usual=usual, parameters=parameters) == ""


def test_a_metric_that_nobody_knows_is_not_asked_for_again() -> None:
    said = f"==ERROR== Failed to find metric {METRICS[3]}\n==ERROR== Failed to find metric mine\n"
    assert unknown_metrics(said) == (METRICS[3],)
    words = counters_command(Path("ncu"), Path("log"), ["a::b<3>"], without=unknown_metrics(said))
    assert METRICS[3] not in words[-1].split(",")
    assert len(words[-1].split(",")) == len(METRICS) - 1
    assert words[words.index("--kernel-name") + 1] == "regex:^(b)$"
