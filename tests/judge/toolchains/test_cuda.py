from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from cuda_gym.core.device import Device
from cuda_gym.core.findings import BuildForm
from cuda_gym.core.task import Submission
from cuda_gym.errors import CompileError, MissingTool
from cuda_gym.judge.profiling.gpus import Gpu, list_gpus
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cuda import CudaToolchain
from cuda_gym.judge.toolchains.nvrtc_pool import warm

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")

FIRST = Device("cuda", 0)
HOPPER = Gpu(
    index=0,
    name="Hopper",
    uuid="GPU-0",
    lock_uuid="GPU-0",
    capability=(9, 0),
    memory_bytes=1 << 37,
    driver="999.0",
    cuda_version=(99, 0),
    num_multiprocessors=132,
    l2_bytes=50 << 20,
    exports_memory=True,
    is_mig=False,
)
KERNEL = "__global__ void scale(float* out, int n) { out[threadIdx.x] *= n; }\n"
LAUNCHER = """\
extern "C" void go(float* out, int n, cudaStream_t stream) {
    scale<<<1, 256, 0, stream>>>(out, n);
}
"""
CALLS_LAUNCHER = "import cuda_extension\ncuda_extension.go(x, 2)\n"
LAUNCHES = 'import cuda_extension\ncuda_extension.kernel("scale")[1, 256](x, 2)\n'


def _submission(kernels: str, model: str) -> Submission:
    return Submission.of({"kernels/a.cu": kernels, "model_new.py": model})


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> BuildCache:
    return BuildCache(tmp_path_factory.mktemp("cache"))


def _toolchain(cache: BuildCache, gpu: Gpu = HOPPER) -> CudaToolchain:
    return CudaToolchain(FIRST, cache, gpu=gpu)


@needs_nvcc
def test_a_file_with_a_launcher_becomes_a_library_for_this_very_gpu(cache: BuildCache) -> None:
    toolchain = _toolchain(cache)
    build = toolchain.build(_submission(KERNEL + LAUNCHER, CALLS_LAUNCHER), checking=True)
    assert build.form is BuildForm.LIBRARY
    assert build.toolchain == toolchain.name
    assert build.toolchain.startswith("nvcc ")
    assert build.toolchain.endswith("(sm_90a)")
    [kernel] = build.kernels
    assert (kernel.block_threads, kernel.occupancy) == (256, 1.0)


@needs_nvcc
@pytest.mark.skipif(not warm(), reason="there is no NVRTC")
def test_kernels_alone_need_no_host_compiler(cache: BuildCache) -> None:
    build = _toolchain(cache).build(_submission(KERNEL, LAUNCHES))
    assert build.form is BuildForm.CUBIN
    assert build.toolchain.startswith("nvrtc ")


@needs_nvcc
def test_kernels_beside_a_launcher_go_into_its_library(cache: BuildCache) -> None:
    build = _toolchain(cache).build(_submission(KERNEL + LAUNCHER, LAUNCHES))
    assert build.form is BuildForm.LIBRARY
    assert b"cuda_gym_entry_of_scale" in Path(build.library).read_bytes()


@needs_nvcc
def test_an_error_is_the_submissions_own(cache: BuildCache) -> None:
    with pytest.raises(CompileError, match=r"kernels/a\.cu:1:\d+: error: .*undefined"):
        _toolchain(cache).build(_submission(KERNEL.replace("n;", "m;") + LAUNCHER, "x"))


@needs_nvcc
def test_a_gpu_that_the_toolkit_does_not_know_is_no_fault_of_the_submission(
    cache: BuildCache,
) -> None:
    old = replace(HOPPER, capability=(3, 5))
    with pytest.raises(MissingTool, match=r"does not build for sm_35.*older CUDA toolkit"):
        _toolchain(cache, old).build(_submission(KERNEL + LAUNCHER, CALLS_LAUNCHER))


@needs_nvcc
def test_a_driver_that_is_too_old_is_no_fault_of_the_submission(cache: BuildCache) -> None:
    behind = replace(HOPPER, cuda_version=(10, 2))
    with pytest.raises(
        MissingTool, match=r"the driver runs CUDA 10\.2 at most\. Update the driver"
    ):
        _toolchain(cache, behind).build(_submission(KERNEL + LAUNCHER, CALLS_LAUNCHER))


@pytest.mark.skipif(bool(list_gpus()), reason="there is a GPU")
def test_without_a_gpu_the_reason_is_told() -> None:
    with pytest.raises(MissingTool, match=r"There is no cuda:0\b.*driver"):
        _ = CudaToolchain(FIRST).name
