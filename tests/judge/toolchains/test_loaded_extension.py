"""Modules with bindings, loaded and run on a GPU; each in a process of its own, as a candidate does it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.extension_build import ExtensionToolchain

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]

KERNEL = """\
template <int Threads>
__global__ void scale_kernel(float* out, const float* in, float factor, int n) {
    int i = blockIdx.x * Threads + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}
"""
LAUNCHER = """\
extern "C" void scale_launcher(float* out, const float* in, float factor, int n, cudaStream_t stream) {
    scale_kernel<256><<<(n + 255) / 256, 256, 0, stream>>>(out, in, factor, n);
}
extern "C" void wrong_launcher(float* out, cudaStream_t stream) {
    scale_kernel<256><<<0, 256, 0, stream>>>(out, out, 1.0f, 1);
}
"""
BINDING = """\
#include <torch/types.h>
#include <torch/csrc/utils/pybind.h>

#include <cuda_runtime.h>
#include <c10/cuda/CUDAStream.h>
#include "../binding_registry.h"

extern "C" void scale_launcher(float*, const float*, float, int, cudaStream_t);
extern "C" void wrong_launcher(float*, cudaStream_t);

static torch::Tensor scale(torch::Tensor x, double factor, int config = 0) {
    TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
    TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
    TORCH_CHECK(x.dtype() == torch::kFloat32, "x must be float32");
    auto out = torch::empty_like(x);
    cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
    scale_launcher(out.data_ptr<float>(), x.data_ptr<float>(), static_cast<float>(factor),
                   static_cast<int>(x.numel()), stream);
    return out;
}
static void wrong(torch::Tensor x) {
    wrong_launcher(x.data_ptr<float>(), c10::cuda::getCurrentCUDAStream().stream());
}
static torch::Tensor product(torch::Tensor x) { return torch::mm(x, x); }

static void register_scale(pybind11::module& m) {
    m.def("scale", &scale, "x times factor", py::arg("x"), py::arg("factor"), py::arg("config") = 0);
    m.def("wrong", &wrong);
    m.def("product", &product);
}
REGISTER_BINDING(scale, register_scale);
"""
INLINE = (
    "from torch.utils.cpp_extension import load_inline\n"
    'SOURCE = """\n#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\n'
    "#include <c10/cuda/CUDAException.h>\n" + KERNEL + """\
torch::Tensor scale_cuda(torch::Tensor x, double factor) {
    auto out = torch::zeros_like(x);
    const int n = x.numel();
    scale_kernel<128><<<(n + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        out.data_ptr<float>(), x.data_ptr<float>(), factor, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
    '"""\n'
    "scale = load_inline(name='inline_scale', cuda_sources=SOURCE, verbose=True, extra_cflags=[''],\n"
    "    cpp_sources='torch::Tensor scale_cuda(torch::Tensor x, double factor);',\n"
    "    functions=['scale_cuda'], extra_ldflags=[''], extra_cuda_cflags=['-O3', '--use_fast_math'])\n"
)


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> ExtensionToolchain:
    major, minor = torch.cuda.get_device_capability()
    return ExtensionToolchain(f"sm_{major}{minor}", BuildCache(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def folder(toolchain: ExtensionToolchain) -> str:
    kernels = {"kernels/scale.cu": KERNEL + LAUNCHER, "kernels/scale_binding.cpp": BINDING}
    return toolchain.build(Submission.of({"model_new.py": "", **kernels})).library


def in_a_process(library: str, code: str) -> Any:
    head = (
        "import json, sys, warnings, torch\n"
        "from cuda_gym.judge.toolchains.loaded_extension import LoadedExtension\n"
        f"loaded = LoadedExtension({library!r})\n"
        "x = torch.ones(1000, device='cuda')\n"
    )
    command = [sys.executable, "-c", head + code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_binding_of_the_published_folder_computes_and_its_launches_are_counted(
    folder: str,
) -> None:
    told = in_a_process(
        folder,
        "before = loaded.num_launches()\n"
        "y = loaded.module.scale(x, 3.0, config=1)\n"
        "print(json.dumps([float(y.sum()), before, loaded.num_launches(), loaded.take_error()]))",
    )
    assert told == [3000.0, 0, 1, None]


def test_the_time_of_its_kernels_is_told_by_name(folder: str) -> None:
    told = in_a_process(
        folder,
        "loaded.time_kernels(True)\n"
        "loaded.module.scale(x, 3.0); loaded.module.scale(x, 2.0)\n"
        "(kernel,) = loaded.launched_kernels()\n"
        "print(json.dumps([kernel.name, kernel.launches, kernel.total_ns > 0, kernel.block[0]]))",
    )
    assert told[0].startswith("scale_kernel")
    assert told[1:] == [2, True, 256]


def test_a_launch_that_is_refused_is_told_with_its_grid(folder: str) -> None:
    told = in_a_process(
        folder,
        "loaded.module.wrong(x)\nprint(json.dumps([loaded.num_launches(), loaded.take_error()]))",
    )
    assert told[0] == 0
    assert "(0,1,1)" in told[1]


def test_the_operator_rule_holds_for_bindings_on_a_gpu(folder: str) -> None:
    told = in_a_process(
        folder,
        "from cuda_gym.judge.sandbox.torch_operators import refuse_torch_operators\n"
        "warnings.simplefilter('ignore')\n"
        "seen, square = [], torch.ones(4, 4, device='cuda')\n"
        "refuse_torch_operators('cuda', on_refusal=lambda name, advice: seen.append(name))\n"
        "loaded.module.scale(x, 3.0)\n"
        "try:\n    loaded.module.product(square)\n"
        "except RuntimeError as error:\n    seen.append(str(error)[:8])\n"
        "print(json.dumps(seen))",
    )
    assert told == ["torch.mm", "torch.mm"]


def test_a_single_file_with_load_inline_computes(toolchain: ExtensionToolchain) -> None:
    build = toolchain.build(Submission.of({"model_new.py": INLINE}))
    assert Path(build.library).name == "inline_scale.so"
    told = in_a_process(
        build.library,
        "from cuda_gym.judge.sandbox.inline_extension import install\n"
        "install(loaded.modules)\n"
        f"space = {{}}\nexec({INLINE!r}, space)\n"
        "y = space['scale'].scale_cuda(x, 3.0)\n"
        "print(json.dumps([float(y.sum()), loaded.num_launches(), loaded.take_error()]))",
    )
    assert told == [3000.0, 1, None]
