from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cuda_gym.core.findings import Severity
from cuda_gym.core.task import Submission
from cuda_gym.errors import CandidateTimeout, CompileError
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.nvcc import NvccToolchain
from cuda_gym.judge.toolchains.nvcc_diagnostics import parse_nvcc

pytestmark = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")

RIGHT = """\
__global__ void twice(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * in[i];
}
extern "C" void launch(float* out, const float* in, int n, cudaStream_t stream) {
    twice<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
"""


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> NvccToolchain:
    return NvccToolchain("sm_90", BuildCache(tmp_path_factory.mktemp("cache")))


def _error(toolchain: NvccToolchain, text: str) -> CompileError:
    with pytest.raises(CompileError) as caught:
        toolchain.build(Submission.of({"kernels/a.cu": text}))
    return caught.value


def test_a_submission_is_built_once(toolchain: NvccToolchain) -> None:
    submission = Submission.of({"kernels/a.cu": RIGHT, "model_new.py": "pass"})
    built, again = toolchain.build(submission), toolchain.build(submission)
    assert (built.cached, again.cached) == (False, True)
    assert built.library == again.library
    assert b"launch" in Path(built.library).read_bytes()
    (kernel,) = again.kernels
    assert (kernel.name, kernel.spill_bytes, kernel.shared_bytes) == ("twice", 0, 0)
    assert 4 <= (kernel.registers or 0) <= 32
    assert re.fullmatch(r"nvcc [\d.]+ \(sm_90\)", built.toolchain)


def test_an_error_has_its_place_in_the_line_as_it_was_written(toolchain: NvccToolchain) -> None:
    error = _error(toolchain, RIGHT.replace("    if (i < n) out[i]", "\t__shared__ int s; out[j]"))
    [found] = error.diagnostics
    assert str(found) == 'kernels/a.cu:3:24: error: identifier "j" is undefined'
    assert str(error) == str(found)


def test_attributes_are_told_as_they_are_written(toolchain: NvccToolchain) -> None:
    error = _error(toolchain, "__shared__ __device__ int a[3]; __global__ int f() { return 1; }")
    assert "__attribute__" not in str(error)
    assert "__global__" in str(error)


def test_what_ptxas_refuses_is_told(toolchain: NvccToolchain) -> None:
    text = RIGHT.replace(
        "    if", "    __shared__ float s[20000]; s[i] = n; __syncthreads(); n = s[n];\n    if"
    )
    [found] = _error(toolchain, text).diagnostics
    assert found.severity is Severity.ERROR
    assert (found.file, found.line) == ("kernels/a.cu", 1)
    assert "uses too much shared data (0x13880 bytes, 0xc000 max): 80,000 bytes" in found.message


def test_a_name_that_nobody_defines_is_told(toolchain: NvccToolchain) -> None:
    lost = RIGHT.replace("    twice<<<", "    elsewhere();\n    twice<<<")
    error = _error(toolchain, f"void elsewhere();\n{lost}")
    assert str(error) == (
        "kernels/a.cu:7: error: undefined reference to `elsewhere()': no file under kernels/ defines it"
    )


def test_a_compiler_that_takes_too_long_is_stopped(toolchain: NvccToolchain) -> None:
    with pytest.raises(CandidateTimeout, match="was stopped"):
        toolchain.build(Submission.of({"kernels/a.cu": RIGHT + "// late\n"}), deadline_s=0.05)


def test_a_text_that_relies_on_all_of_the_headers_is_built(toolchain: NvccToolchain) -> None:
    host = "    n = std::min(n, (int)std::beta(1.0, 2.0) + n);\n    twice<<<"
    toolchain.build(Submission.of({"kernels/a.cu": RIGHT.replace("    twice<<<", host)}))


def test_two_launchers_of_one_name_are_told_at_both_places(toolchain: NvccToolchain) -> None:
    other = RIGHT.replace("twice", "thrice")
    with pytest.raises(CompileError) as caught:
        toolchain.build(Submission.of({"kernels/a.cu": RIGHT, "kernels/b.cu": other}))
    assert str(caught.value).startswith(
        "kernels/b.cu:5: error: multiple definition of `launch': at kernels/a.cu:5 and kernels/b.cu:5"
    )


def test_files_of_one_name_in_two_folders_are_two_files(toolchain: NvccToolchain) -> None:
    other = RIGHT.replace("twice", "thrice").replace("launch", "launch_other")
    hidden = "namespace { __device__ float kept; }\n"
    build = toolchain.build(
        Submission.of({"kernels/a.cu": hidden + RIGHT, "kernels/deep/a.cu": hidden + other})
    )
    assert {kernel.name for kernel in build.kernels} == {"twice", "thrice"}


def test_a_toolkit_that_does_not_tell_its_plan_builds_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = tmp_path / "nvcc"
    refuses = 'case "$*" in *--dryrun*-shared*kernels*) exit 1 ;; esac'
    silent.write_text(f'#!/bin/sh\n{refuses}\nexec {shutil.which("nvcc")} "$@"\n')
    silent.chmod(0o755)
    monkeypatch.setenv("CUDA_GYM_NVCC", str(silent))
    build = NvccToolchain("sm_90", BuildCache(tmp_path)).build(
        Submission.of({"kernels/a.cu": RIGHT})
    )
    [kernel] = build.kernels
    assert (kernel.name, kernel.block_threads) == ("twice", 256)


def test_equal_messages_are_told_once_errors_first() -> None:
    said = (
        'k.cu(2): warning #177-D: variable "x" was declared but never referenced\n'
        "      int x;\n          ^\n\n"
        'k.cu(1): error: expected a ";"\n  f()\n     ^\n\n'
        'k.cu(1): error: expected a ";"\n  f()\n     ^\n\n'
        "/usr/include/x.h(7): error: no\n"
    )
    found = parse_nvcc(said, {"k.cu": "f()\n    int x;\n"})
    assert [str(d) for d in found] == [
        'k.cu:1: error: expected a ";"',
        "no",
        'k.cu:2:9: warning: variable "x" was declared but never referenced',
    ]
