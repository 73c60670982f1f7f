"""Kernels without host code, compiled by NVRTC; this needs no GPU."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cuda_gym.core.findings import Build, BuildForm
from cuda_gym.core.task import Submission
from cuda_gym.errors import CandidateTimeout, CompileError, MissingTool
from cuda_gym.judge.toolchains import nvrtc_pool
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.nvrtc import NvrtcCannot, NvrtcToolchain
from cuda_gym.judge.toolchains.nvrtc_headers import device_headers
from cuda_gym.judge.toolchains.nvrtc_pool import nvrtc_version, warm

needs_nvrtc = pytest.mark.skipif(not warm(), reason="there is no NVRTC (nvidia-cuda-nvrtc)")
needs_headers = pytest.mark.skipif(
    not warm() or device_headers(nvrtc_version()[0]) is None, reason="there are no headers of CUDA"
)
MODEL = {"model_new.py": 'import cuda_extension\ncuda_extension.kernel("f")[1, 1](x)'}
RIGHT = """\
__global__ void twice(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * in[i];
}
"""
BOMB = """\
template <int A, int B> struct F { static const int v = F<A - 1, B * 2>::v + F<A - 1, B * 2 + 1>::v; };
template <int B> struct F<0, B> { static const int v = B; };
__global__ void f(int* x) { x[0] = F<24, 0>::v; }
"""


@pytest.fixture
def toolchain(tmp_path: Path) -> NvrtcToolchain:
    return NvrtcToolchain("sm_90", BuildCache(tmp_path))


def submission(text: str, **others: str) -> Submission:
    return Submission.of({"kernels/a.cu": text, **MODEL, **others})


def symbols(build: Build) -> list[dict[str, str]]:
    return [part["kernels"] for part in json.loads(Path(build.library).read_text())]


@needs_nvrtc
def test_a_submission_is_built_once(toolchain: NvrtcToolchain) -> None:
    right = submission(RIGHT)
    assert toolchain.accepts(right)
    built, again = toolchain.build(right), toolchain.build(right)
    assert (built.cached, again.cached) == (False, True)
    assert built.library == again.library
    assert built.form is again.form is BuildForm.CUBIN
    assert symbols(again) == [{"twice": "_Z5twicePfPKfi"}]
    (kernel,) = again.kernels
    assert (kernel.name, kernel.spill_bytes, kernel.shared_bytes) == ("twice", 0, 0)
    assert 4 <= (kernel.registers or 0) <= 32
    assert re.fullmatch(r"nvrtc [\d.]+ \(sm_90\)", built.toolchain)


@needs_nvrtc
def test_files_do_not_see_each_other_but_the_headers_that_they_include(
    toolchain: NvrtcToolchain,
) -> None:
    helper = "__device__ int helper() {{ return {}; }}\n"
    build = toolchain.build(
        submission(
            f'#include "deep/b.cuh"\n{helper.format("B")}__global__ void f(int* x) {{ *x = helper(); }}',
            **{
                "kernels/deep/b.cuh": '#include "c.cuh"\n',
                "kernels/deep/c.cuh": "#define B 3\n",
                "kernels/g.cu": helper.format(4) + "__global__ void g(int* x) { *x = helper(); }",
            },
        )
    )
    assert [list(names) for names in symbols(build)] == [["f"], ["g"]]
    assert [kernel.name for kernel in build.kernels] == ["f", "g"]


@needs_nvrtc
@pytest.mark.parametrize(
    "definition",
    [
        "static __global__ void f(int* x) { *x = 1; }",
        "namespace { __global__ void f(int* x) { *x = 1; } }",
        "namespace a { namespace b { __global__ void f(int* x) { *x = 1; } } }",
        'extern "C" __global__ void f(int* x) { *x = 1; }',
    ],
)
def test_a_kernel_that_nothing_in_its_file_launches_is_kept_without_a_warning(
    toolchain: NvrtcToolchain, definition: str
) -> None:
    build = toolchain.build(submission(definition))
    assert [list(names) for names in symbols(build)] == [["f"]]
    assert build.diagnostics == ()


@needs_nvrtc
def test_what_every_kernel_knows_under_nvcc_is_known(toolchain: NvrtcToolchain) -> None:
    build = toolchain.build(
        submission(
            "#include <math.h>\n#include <cstdint>\n#include <float.h>\n#include <climits>\n"
            "constexpr float most = INFINITY;\n__constant__ float table[] = {INFINITY, NAN};\n"
            "__global__ void f(float* x, std::uint32_t n, int64_t m) {\n"
            '  printf("%f", x[0]); assert(n < UINT32_MAX);\n'
            "  x[0] = most + table[n] + M_PI + FLT_MAX + INT_MAX + m + expf(x[1]) + max(1, 2);\n}"
        )
    )
    assert build.diagnostics == ()


@needs_headers
def test_headers_for_kernels_are_found(toolchain: NvrtcToolchain) -> None:
    text = submission(
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <mma.h>\n#include <cuda_runtime.h>\n"
        "__global__ void f(__half* x, const __nv_bfloat16* y) {\n"
        "  x[0] = __float2half(__bfloat162float(y[0]));\n}"
    )
    assert toolchain.accepts(text)
    assert toolchain.build(text).diagnostics == ()


@needs_headers
def test_cooperative_groups_live_beside_the_headers_of_c(toolchain: NvrtcToolchain) -> None:
    text = submission(
        "#include <stdint.h>\n#include <limits.h>\n#include <cooperative_groups.h>\n"
        "__global__ void f(uint32_t* x) {\n"
        "  auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());\n"
        "  x[0] = warp.thread_rank() + INT_MAX;\n}"
    )
    assert toolchain.accepts(text)
    assert toolchain.build(text).diagnostics == ()


@needs_nvrtc
def test_an_error_has_its_place_in_the_line_as_it_was_written(toolchain: NvrtcToolchain) -> None:
    with pytest.raises(CompileError) as caught:
        toolchain.build(submission(RIGHT.replace("    if (i < n) out[i]", "\tout[j]")))
    assert str(caught.value) == 'kernels/a.cu:3:6: error: identifier "j" is undefined'


@needs_nvrtc
def test_what_the_assembler_refuses_is_told(toolchain: NvrtcToolchain) -> None:
    text = "__global__ void f(int* x) { __shared__ int a[20000]; a[x[1]] = 1; x[0] = a[x[2]]; }"
    with pytest.raises(CompileError, match="too much shared data"):
        toolchain.build(submission(text))


@needs_nvrtc
def test_occupancy_and_local_memory_are_told_as_by_nvcc(toolchain: NvrtcToolchain) -> None:
    build = toolchain.build(
        submission(
            "__global__ void __launch_bounds__(256) f(float* x, int n) {\n"
            "  float kept[100];\n  for (int i = 0; i < n; ++i) kept[i] = x[i];\n"
            "  x[0] = kept[n / 2];\n}"
        )
    )
    (kernel,) = build.kernels
    assert (kernel.block_threads, kernel.stack_bytes) == (256, 400)
    assert kernel.occupancy
    (warning,) = build.diagnostics
    assert (warning.file, warning.line) == ("kernels/a.cu", 1)
    assert "400 bytes" in warning.message


@needs_nvrtc
@pytest.mark.parametrize(
    "text",
    [
        "#define F(T) T f(T x) { return x; }\nF(int)\n__global__ void g(int* x) { x[0] = 1; }",
        "int counter = 0;\n__global__ void g(int* x) { x[0] = 1; }",
        "__global__ void g(int* x) { x[0] = std::min(x[0], 1); }",
        "__global__ void g(int* x) { x[0] = EXIT_FAILURE; }",
    ],
)
def test_what_only_nvcc_can_judge_is_left_to_it(toolchain: NvrtcToolchain, text: str) -> None:
    assert toolchain.accepts(submission(text))
    with pytest.raises(NvrtcCannot):
        toolchain.build(submission(text))


@needs_nvrtc
def test_an_architecture_that_it_does_not_know_is_for_nvcc(tmp_path: Path) -> None:
    with pytest.raises(NvrtcCannot, match="architecture"):
        NvrtcToolchain("sm_999", BuildCache(tmp_path)).build(submission(RIGHT))


@needs_nvrtc
def test_sources_with_host_code_or_without_a_direct_launch_are_not_for_it(tmp_path: Path) -> None:
    toolchain = NvrtcToolchain("sm_90", BuildCache(tmp_path))
    launcher = RIGHT + 'extern "C" void launch(float* x) { twice<<<1, 1>>>(x, x, 1); }'
    assert not toolchain.accepts(submission(launcher))
    assert not toolchain.accepts(Submission.of({"kernels/a.cu": RIGHT, "model_new.py": "pass"}))
    assert not toolchain.accepts(Submission.of(MODEL))


@needs_nvrtc
def test_a_driver_older_than_nvrtc_is_for_another_compiler(tmp_path: Path) -> None:
    major, _ = nvrtc_version()
    for driver, accepts in (((major, 0), True), ((major - 1, 9), False)):
        toolchain = NvrtcToolchain("sm_90", BuildCache(tmp_path), driver_cuda=driver)
        assert toolchain.accepts(submission(RIGHT)) is accepts


@needs_nvrtc
def test_a_text_that_takes_too_long_is_stopped_and_the_next_is_built(
    toolchain: NvrtcToolchain,
) -> None:
    started = time.monotonic()
    with pytest.raises(CandidateTimeout, match="Compiling took longer"):
        toolchain.build(submission(BOMB), deadline_s=0.5)
    assert time.monotonic() - started < 5.0
    assert toolchain.build(submission(RIGHT)).kernels


@needs_nvrtc
def test_a_compiler_that_dies_is_nobodys_error_and_is_replaced(toolchain: NvrtcToolchain) -> None:
    warm()
    victim = nvrtc_pool._idle[-1]._process.pid
    timer = threading.Timer(0.5, os.kill, (victim, signal.SIGKILL))
    timer.start()
    with pytest.raises(NvrtcCannot, match="crashed"):
        toolchain.build(submission(BOMB))
    timer.join()
    warm()
    victim = nvrtc_pool._idle[-1]._process.pid
    os.kill(victim, signal.SIGKILL)
    while _runs(victim):
        time.sleep(0.01)
    assert toolchain.build(submission(RIGHT)).kernels


@needs_nvrtc
def test_a_fork_has_a_compiler_of_its_own_and_none_outlives_its_asker(tmp_path: Path) -> None:
    program = f"""
import os
from pathlib import Path
from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains import nvrtc_pool
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.nvrtc import NvrtcToolchain
toolchain = NvrtcToolchain("sm_90", BuildCache(Path({str(tmp_path)!r})))
toolchain.warm()
pid = nvrtc_pool._idle[-1]._process.pid
if child := os.fork():
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert nvrtc_pool._idle[-1]._process.pid == pid and nvrtc_pool._idle[-1].is_alive
else:
    toolchain.build(Submission.of({{"kernels/a.cu": {RIGHT!r}}} | {MODEL!r}))
    assert nvrtc_pool._idle[-1]._process.pid != pid
print(nvrtc_pool._idle[-1]._process.pid, flush=True)
os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    deadline = time.monotonic() + 10
    for pid in map(int, done.stdout.split()):
        while _runs(pid):
            assert time.monotonic() < deadline
            time.sleep(0.02)


def _runs(pid: int) -> bool:
    """Whether it is there and no more than a name in the table of processes."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_without_nvrtc_the_reason_and_the_remedy_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(nvrtc_pool, "_idle", [])
    nvrtc_pool._version.cache_clear()
    try:
        toolchain = NvrtcToolchain("sm_90", BuildCache(tmp_path))
        assert not toolchain.accepts(submission(RIGHT))
        with pytest.raises(MissingTool, match=r"no NVRTC: .*cuda.bindings.*pip install"):
            toolchain.build(submission(RIGHT))
    finally:
        nvrtc_pool._version.cache_clear()
