"""Two builds with torch's headers, and what the tests of this file look at in them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuda_gym.core.findings import Build, BuildForm
from cuda_gym.core.task import Submission
from cuda_gym.errors import CompileError, MissingTool, Refused, UnsupportedOnDevice
from cuda_gym.judge.toolchains import extension_build
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.extension_build import ExtensionToolchain
from cuda_gym.judge.toolchains.extension_rules import require_no_bindings, require_own_kernels
from cuda_gym.judge.toolchains.torch_files import find_torch

pytestmark = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")

KERNEL = """\
__global__ void twice(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * in[i];
}
extern "C" void launch_twice(float* out, const float* in, int n, cudaStream_t stream) {
    twice<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
"""
BINDING = """\
#include <torch/types.h>
#include <torch/csrc/utils/pybind.h>
#include <cuda_runtime.h>
#include "../binding_registry.h"

extern "C" void launch_twice(float* out, const float* in, int n, cudaStream_t stream);

static torch::Tensor twice(torch::Tensor x) {
    TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
    auto out = torch::empty_like(x);
    launch_twice(out.data_ptr<float>(), x.data_ptr<float>(), (int)x.numel(), nullptr);
    return out;
}
static torch::Tensor product(torch::Tensor a, torch::Tensor b) { return torch::mm(a, b); }
static torch::Tensor room(torch::Tensor x) { return torch::empty_like(x).view({-1}); }

static void add_twice(pybind11::module& m) {
    m.def("twice", &twice, py::arg("x"));
    m.def("product", &product);
    m.def("room", &room);
}
REGISTER_BINDING(twice, add_twice);
"""
FOLDER = Submission.of(
    {
        "model_new.py": "import cuda_extension",
        "kernels/twice.cu": KERNEL,
        "kernels/twice_binding.cpp": BINDING,
    }
)
INLINE = '''\
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <cuda_runtime.h>
__global__ void fill(float* out, float value) { out[threadIdx.x] = value; }
float launch(float value) {
    fill<<<1, 1>>>(nullptr, value);
    return value + OFFSET;
}
"""
CPP = """
#include <pybind11/pybind11.h>
float launch(float value);
"""
first = load_inline(name="filler", cpp_sources=CPP, cuda_sources=CUDA, functions=["launch"],
                    no_implicit_headers=True, with_pytorch_error_handling=False,
                    extra_cuda_cflags=["-DOFFSET=1", "-lcublas"])
second = load_inline("filler", CPP, CUDA.replace("OFFSET", "2"), functions=["launch"],
                     no_implicit_headers=True, with_pytorch_error_handling=False)
'''


def in_a_process(library: str, code: str) -> Any:
    """What a fresh process prints after it has loaded a build."""
    head = (
        "import json, sys, torch\n"
        "from cuda_gym.judge.toolchains.loaded_extension import LoadedExtension\n"
        f"loaded = LoadedExtension({library!r})\n"
    )
    command = [sys.executable, "-W", "error", "-c", head + code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> ExtensionToolchain:
    return ExtensionToolchain("sm_90", BuildCache(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def folder(toolchain: ExtensionToolchain) -> Build:
    return toolchain.build(FOLDER)


@pytest.fixture(scope="module")
def inline(toolchain: ExtensionToolchain) -> Build:
    return toolchain.build(Submission.of({"model_new.py": INLINE}))


@pytest.mark.slow
def test_a_published_folder_becomes_one_module(
    folder: Build, toolchain: ExtensionToolchain
) -> None:
    assert folder.form is BuildForm.EXTENSION
    assert Path(folder.library).name == "cuda_extension.so"
    assert [kernel.name for kernel in folder.kernels] == ["twice"]
    assert re.fullmatch(r"nvcc [\d.]+ \(sm_90, torch \S+\)", folder.toolchain)
    assert toolchain.build(FOLDER).cached


@pytest.mark.slow
@pytest.mark.skipif(find_torch().cuda is not None, reason="this torch may find a GPU")
def test_a_launch_that_fails_is_told_with_its_kernel_and_not_counted(folder: Build) -> None:
    told = in_a_process(
        folder.library,
        "loaded.modules['cuda_extension'].twice(torch.ones(8))\n"
        "print(json.dumps([loaded.num_launches(), loaded.take_error()]))",
    )
    assert told[0] == 0
    assert "twice" in told[1]


@pytest.mark.slow
def test_the_operator_rule_holds_for_bindings_too(folder: Build) -> None:
    told = in_a_process(
        folder.library,
        "from cuda_gym.judge.sandbox.torch_operators import refuse_torch_operators\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "x, seen = torch.ones(2, 2), []\n"
        "refuse_torch_operators('cpu', on_refusal=lambda name, advice: seen.append(name))\n"
        "assert loaded.module.room(x).shape == (4,)\n"
        "try:\n    loaded.module.product(x, x)\n"
        "except RuntimeError as error:\n    seen.append(str(error)[:8])\n"
        "print(json.dumps(seen))",
    )
    assert told == ["torch.mm", "torch.mm"]


@pytest.mark.slow
def test_what_a_binding_calls_through_torchs_dispatcher_is_for_the_operator_rule(
    folder: Build,
) -> None:
    require_own_kernels(Path(folder.library), ())


@pytest.mark.slow
def test_every_call_of_load_inline_gets_the_module_of_its_own_sources(inline: Build) -> None:
    told = in_a_process(
        inline.library,
        "from cuda_gym.judge.sandbox.inline_extension import install\n"
        "install(loaded.modules)\n"
        "from torch.utils.cpp_extension import load_inline\n"
        "import torch.utils\n"
        "first, second = load_inline(name='filler', cpp_sources=''), "
        "torch.utils.cpp_extension.load_inline('filler', '')\n"
        "try:\n    load_inline(name='other')\nexcept ImportError as error:\n    failed = str(error)\n"
        "print(json.dumps([first.launch(1.0), second.launch(1.0), failed]))",
    )
    assert told[:2] == [2.0, 3.0]
    assert "there are: filler, filler_v1" in told[2]


@pytest.mark.slow
def test_flags_that_are_not_for_a_submission_to_choose_are_warned_of(inline: Build) -> None:
    (warning,) = inline.diagnostics
    assert (warning.file, warning.line) == ("model_new.py", 15)
    assert "without -lcublas" in warning.message


def test_an_error_has_its_place_in_model_new(toolchain: ExtensionToolchain) -> None:
    source = (
        "from torch.utils.cpp_extension import load_inline\n"
        'CUDA = """\n__global__ void fill(float* out) {\n    out[j] = 0;\n}\n"""\n'
        "load_inline(name='a', cpp_sources='', cuda_sources=CUDA, no_implicit_headers=True)\n"
    )
    with pytest.raises(CompileError) as caught:
        toolchain.build(Submission.of({"model_new.py": source}))
    assert str(caught.value) == 'model_new.py:4:9: error: identifier "j" is undefined'


def test_an_error_of_a_binding_has_its_place(toolchain: ExtensionToolchain) -> None:
    files = {
        "model_new.py": "",
        "binding.cpp": "int x;",
        "kernels/a.cu": KERNEL,
        "kernels/a_binding.cpp": "// REGISTER_BINDING(a, a)\nint f() { return nothing; }\n",
    }
    with pytest.raises(CompileError) as caught:
        toolchain.build(Submission.of(files))
    place = caught.value.diagnostics[0]
    assert (place.file, place.line) == ("kernels/a_binding.cpp", 2)


def test_a_function_that_nobody_defines_is_told_where_it_is_declared(
    toolchain: ExtensionToolchain,
) -> None:
    files = {
        "model_new.py": "",
        "binding.cpp": 'extern "C" void missing(int n);\nvoid f() { missing(1); }',
        "kernels/a.cu": f"{KERNEL}// REGISTER_BINDING(a, a)",
    }
    with pytest.raises(CompileError) as caught:
        toolchain.build(Submission.of(files))
    assert str(caught.value).startswith(
        "binding.cpp:1: error: missing is declared but never defined"
    )


def test_an_error_in_a_text_that_was_put_together_has_its_line_there(
    toolchain: ExtensionToolchain,
) -> None:
    source = (
        "from torch.utils.cpp_extension import load_inline\n"
        "load_inline(name='a', cpp_sources='', no_implicit_headers=True,\n"
        "            cuda_sources='\\n'.join(['', '__global__ void f() { j = 1; }']))\n"
    )
    with pytest.raises(CompileError) as caught:
        toolchain.build(Submission.of({"model_new.py": source}))
    assert str(caught.value) == (
        "identifier \"j\" is undefined (line 2 of the cuda_sources of load_inline 'a')"
    )


def test_bindings_are_unsupported_on_cpu_with_place_and_remedy() -> None:
    with pytest.raises(UnsupportedOnDevice) as caught:
        require_no_bindings(FOLDER)
    assert str(caught.value).startswith("kernels/twice_binding.cpp:1: error: bindings for torch")
    assert "through cuda_extension" in str(caught.value)
    require_no_bindings(Submission.of({"kernels/a.cu": KERNEL, "kernels/notes.cpp": "int x;"}))


def test_a_toolkit_that_does_not_fit_torch_is_named_with_both_versions(
    toolchain: ExtensionToolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = replace(find_torch(), version="2.9.0+cu118", cuda=(11, 8))
    monkeypatch.setattr(extension_build, "find_torch", lambda: older)
    with pytest.raises(MissingTool, match=r"builds for CUDA \d+, and torch 2\.9\.0\+cu118"):
        toolchain.build(FOLDER)


@pytest.mark.parametrize(
    ("call", "declared", "allowed", "fact"),
    [
        ("cublasSgemm_v2()", 'extern "C" void cublasSgemm_v2();', (), "cublasSgemm_v2"),
        ("cublasSgemm_v2()", 'extern "C" void cublasSgemm_v2();', ("gemm",), None),
        ("cudnnConvolutionForward()", 'extern "C" void cudnnConvolutionForward();', ("gemm",), "cudnn"),
        ("at::native::f()", "namespace at::native { void f(); }", (), "at::native::f"),
        ("at::cuda::mm()", "namespace at::cuda { void mm(); }", (), "at::cuda::mm"),
        ("at::cuda::warp_size()", "namespace at::cuda { int warp_size(); }", (), None),
        ("find(0, 0)", 'extern "C" void* find(void*, const char*) __asm__("dlsym");', ("gemm",),
         "dlsym, which looks up what the judge did not compile"),
        ("cuModuleLoadData(0, 0)", 'extern "C" int cuModuleLoadData(void*, const void*);', ("gemm",),
         "cuModuleLoadData, which loads machine code"),
        ("open_up(0, 1, 4)", 'extern "C" int open_up(void*, long, int) __asm__("mprotect");', (),
         "mprotect, which makes memory whose code"),
        ("dlsym(1.0)", "float dlsym(float);", (), None),
    ],
)  # fmt: skip
def test_what_computes_outside_of_the_kernels_is_refused_by_its_symbols(
    tmp_path: Path, call: str, declared: str, allowed: tuple[str, ...], fact: str | None
) -> None:
    source, library = tmp_path / "a.cpp", tmp_path / "a.so"
    source.write_text(f"{declared}\nvoid f() {{ {call}; }}\n")
    subprocess.run(["g++", "-shared", "-fPIC", source, "-o", library], check=True, timeout=60)
    if fact is None:
        require_own_kernels(library, allowed)
        return
    with pytest.raises(Refused, match=fact):
        require_own_kernels(library, allowed)
