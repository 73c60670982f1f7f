"""Names that CUDA's own functions have are told with the remedy, by every compiler."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cuda_gym.core.findings import Severity
from cuda_gym.core.task import Submission
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains import taken_names
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.launchers import parse_launchers
from cuda_gym.judge.toolchains.nvcc_diagnostics import parse_nvcc
from cuda_gym.judge.toolchains.taken_names import explain_taken_name, taken_name_warnings

LAUNCHER = 'extern "C" void {}(float* out, const float* x, int n, cudaStream_t stream) {{}}\n'


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
def test_nvcc_refuses_every_name_that_is_said_to_be_taken(tmp_path: Path) -> None:
    source = tmp_path / "names.cu"
    source.write_text("".join(map(LAUNCHER.format, sorted(taken_names._TAKEN))))
    command = ["nvcc", "-arch=sm_90", "-Xcudafe", "--error_limit=1000", "-c", source.name]
    said = subprocess.run(
        [*command, "-o", "object"], cwd=tmp_path, capture_output=True, text=True, check=False
    ).stderr
    refused = set(re.findall(r'overloaded function "(\w+)" has "C" linkage', said))
    assert refused == taken_names._TAKEN
    assert all("is a function of CUDA's" in d.message for d in parse_nvcc(said, {}))


def test_a_compiler_for_the_host_tells_a_taken_name_with_the_remedy(cache_folder: Path) -> None:
    with pytest.raises(CompileError) as caught:
        CpuToolchain(BuildCache(cache_folder)).build(
            Submission.of({"kernels/a.cu": LAUNCHER.format("log")})
        )
    assert str(caught.value).endswith(
        "; log is a function of CUDA's: give the launcher another name, such as log_launcher"
    )


def test_what_the_host_lets_pass_is_a_warning_at_its_line() -> None:
    files = {"kernels/a.cu": LAUNCHER.format("relu") + LAUNCHER.format("norm")}
    (warning,) = taken_name_warnings(parse_launchers(files))
    assert (warning.severity, warning.file, warning.line) == (Severity.WARNING, "kernels/a.cu", 2)
    assert "a GPU's compiler refuses the name of launcher norm" in warning.message


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("conflicting types for 'pow'", "pow is a function of CUDA's"),
        (
            'more than one instance of overloaded function "twice" has "C" linkage',
            "twice is declared elsewhere, too",
        ),
        ("conflicting types for 'twice'", None),
        ('identifier "norm" is undefined', None),
    ],
)
def test_only_what_is_about_a_name_gets_a_remedy(said: str, remedy: str | None) -> None:
    explained = explain_taken_name(said)
    assert explained == said if remedy is None else explained.startswith(f"{said}; {remedy}")
