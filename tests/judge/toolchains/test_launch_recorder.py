from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import pytest
import torch

from cuda_gym.core.task import Submission
from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.compiler import Compiler
from cuda_gym.judge.toolchains.launch_recorder import RecordedLibrary
from cuda_gym.judge.toolchains.launch_recorder_build import recorder_objects
from cuda_gym.judge.toolchains.nvcc import NvccToolchain
from cuda_gym.judge.toolchains.toolkit import find_nvcc

pytestmark = [
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH"),
    pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU: its own tests say more"),
]

PROGRAM = """\
template <typename T> __global__ void scale(T* out, int n) { out[threadIdx.x] *= n; }
namespace inner { static __global__ void grow(float* out) { out[0] += 1; } }
extern "C" void launch_scale(float* out, int n, cudaStream_t stream) {
    scale<float><<<n, 256, 1000, stream>>>(out, n);
}
extern "C" void launch_by_name(float* out, cudaStream_t stream) {
    void* arguments[] = {&out};
    cudaLaunchKernel((const void*)inner::grow, dim3(2, 3), dim3(4), arguments, 0, stream);
}
extern "C" void launch_together(float* out, cudaStream_t stream) {
    void* arguments[] = {&out};
    cudaLaunchCooperativeKernel((const void*)inner::grow, dim3(7), dim3(1), arguments, 0, stream);
}
extern "C" void launch_configured(float* out, cudaStream_t stream) {
    cudaLaunchConfig_t asked = {};
    asked.gridDim = dim3(5);
    asked.blockDim = dim3(6);
    asked.stream = stream;
    cudaLaunchKernelEx(&asked, inner::grow, out);
}
extern "C" void wait(cudaStream_t stream) {
    cudaStreamSynchronize(stream);
    cudaDeviceSynchronize();
}
extern "C" int look_up(const char* name, void** function) {
    return cudaGetDriverEntryPointByVersion(name, function, 12000, cudaEnableDefault, nullptr);
}
extern "C" void forget(cudaStream_t stream) {
    scale<float><<<1, 32, 0, stream>>>(nullptr, 1);
    cudaGetLastError();
}
"""


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> NvccToolchain:
    return NvccToolchain("sm_90", BuildCache(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def library(toolchain: NvccToolchain) -> RecordedLibrary:
    build = toolchain.build(Submission.of({"kernels/a.cu": PROGRAM}))
    loaded = RecordedLibrary(build.library)
    loaded.take_error()
    return loaded


def _call(library: RecordedLibrary, name: str, *arguments: object) -> str:
    getattr(library.library, name)(*arguments, ctypes.c_void_p(None))
    error = library.take_error()
    assert error is not None
    library.take_error()
    return error


def test_a_launch_that_fails_is_told_with_its_kernel_and_size(library: RecordedLibrary) -> None:
    said = _call(library, "launch_scale", ctypes.c_void_p(None), 9)
    assert said.startswith(
        "kernel scale<float> was launched with grid (9,1,1) and block (256,1,1) and 1,000 bytes"
    )
    assert "driver" in said  # there is none


@pytest.mark.parametrize(
    ("launcher", "told"),
    [
        ("launch_by_name", "grid (2,3,1) and block (4,1,1)"),
        ("launch_together", "grid (7,1,1) and block (1,1,1)"),
        ("launch_configured", "grid (5,1,1) and block (6,1,1)"),
    ],
)
def test_every_way_to_launch_is_heard(library: RecordedLibrary, launcher: str, told: str) -> None:
    said = _call(library, launcher, ctypes.c_void_p(None))
    assert said.startswith(f"kernel inner::grow was launched with {told}: ")


def test_an_error_that_the_submission_has_read_is_told_all_the_same(
    library: RecordedLibrary,
) -> None:
    assert "grid (1,1,1) and block (32,1,1)" in _call(library, "forget")


def test_only_launches_that_succeed_count(library: RecordedLibrary) -> None:
    before = library.num_launches()
    _call(library, "forget")
    assert library.num_launches() == before


def test_waiting_is_counted(library: RecordedLibrary) -> None:
    before = library.num_synchronisations()
    _call(library, "wait")
    assert library.num_synchronisations() == before + 2


@pytest.mark.parametrize(
    ("name", "is_refused"),
    [
        (b"cuModuleLoadData", True),
        (b"cuLibraryLoadFromFile", True),
        (b"cuLinkCreate", True),
        (b"cuGetProcAddress", True),
        (b"cuTensorMapEncodeTiled", False),
    ],
)
def test_what_loads_machine_code_is_not_looked_up(
    name: bytes, is_refused: bool, library: RecordedLibrary
) -> None:
    not_permitted = 800
    function = ctypes.c_void_p(1)
    status = library.library.look_up(name, ctypes.byref(function))
    assert (status == not_permitted) == is_refused
    if is_refused:
        assert function.value is None


def test_without_launches_there_are_no_times(library: RecordedLibrary) -> None:
    library.time_kernels(True)
    assert library.launched_kernels() == ()
    library.time_kernels(False)


def test_a_library_without_launches_can_be_loaded(toolchain: NvccToolchain) -> None:
    quiet = 'extern "C" int answer(int n) { return n + 1; }'
    library = RecordedLibrary(toolchain.build(Submission.of({"kernels/a.cu": quiet})).library)
    assert library.num_launches() == 0
    assert library.library.answer(41) == 42


def test_a_toolkit_that_compiles_no_kernel_is_to_blame_itself(tmp_path: Path) -> None:
    broken = tmp_path / "nvcc"
    says = "echo '#error unsupported GNU version!'; exit 1"
    broken.write_text(f"#!/bin/sh\ncase $* in *kernel.cu*) {says} ;; esac\n")
    broken.chmod(0o755)
    compiler = Compiler(command=(str(broken),), version="nvcc 13.0.1", identity="broken")
    with pytest.raises(MissingTool, match=r"nvcc 13\.0\.1 compiles nothing here: .*GNU version"):
        recorder_objects(BuildCache(tmp_path), compiler)


def test_the_recorder_is_built_once(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    first, second = (recorder_objects(cache, find_nvcc()) for _ in range(2))
    assert first == second
    assert {"cudaLaunchKernel", "cudaGraphLaunch", "cudaMemcpy"} <= set(first.wrapped)
    assert "--wrap=cudaStreamSynchronize" in first.linker_options
    assert all(Path(path).is_file() for path in first.objects)
