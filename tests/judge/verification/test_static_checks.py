from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.core.device import Device
from cuda_gym.errors import CompileError, Refused, UnsupportedOnDevice
from cuda_gym.judge.verification.static_checks import check_kernels, check_model

CPU, CUDA = Device.parse("cpu"), Device.parse("cuda:0")
MODEL = """
import math
import os
import torch
import torch.nn as nn
import torch.nn.functional as F
import cuda_extension


class ModelNew(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size) * math.sqrt(2))

    def forward(self, x):
        # ctypes, subprocess and torch.compile are not used; nor is numpy
        \"\"\"import socket; os.system('true')\"\"\"
        out = torch.empty_like(x)
        cuda_extension.scale(out, x, x.numel())
        return out
"""


def check(source: str, device: Device = CPU, library: tuple[str, ...] = ()) -> tuple[str, ...]:
    return check_model(source, device=device, library=library)


def in_forward(lines: str, head: str = "") -> str:
    body = "\n".join(f"        {line}" for line in lines.splitlines())
    return f"{head}\n{MODEL}".replace("        out = torch.empty_like(x)\n", f"{body}\n", 1)


def test_an_honest_model_gives_no_evidence() -> None:
    assert check(MODEL) == ()


@pytest.mark.parametrize(
    ("head", "line", "name", "rule"),
    [
        ("import ctypes", "ctypes.CDLL(None)", "ctypes.CDLL", "native code"),
        ("from ctypes import CDLL as load", "load(None)", "ctypes.CDLL", "native code"),
        ("from cffi import *", "", "cffi", "native code"),
        ("import sys", "sys.modules['ctypes'].CDLL(None)", "ctypes.CDLL", "native code"),
        ("", "torch.ctypes.CDLL(None)", "torch.ctypes.CDLL", "native code"),
        ("", "torch.hub.sys.modules['numpy'].dot(x, x)", "numpy.dot", "other compute libraries"),
        ("", "getattr(os, 'fork')()", "os.fork", "other processes"),
        ("import subprocess as s", "s.run('ls')", "subprocess.run", "other processes"),
        ("", "os.system('ls')", "os.system", "other processes"),
        ("from os import execv", "execv('a', [])", "os.execv", "other processes"),
        ("", "torch.multiprocessing.spawn(f)", "torch.multiprocessing.spawn", "other processes"),
        ("import urllib.request", "urllib.request.urlopen(u)", "urllib.request.urlopen", "network"),
        ("import numpy as np", "np.dot(x, x)", "numpy.dot", "other compute libraries"),
        ("import triton", "triton.jit(f)", "triton.jit", "other compute libraries"),
        ("", "__import__('numpy').ones(3)", "numpy.ones", "other compute libraries"),
        (
            "import importlib",
            "importlib.import_module(a)",
            "importlib.import_module",
            "dynamic imports",
        ),
        ("", "torch.compile(self)(x)", "torch.compile", "compilers of torch"),
        ("from torch import compile", "compile(self)", "torch.compile", "compilers of torch"),
        ("", "f = torch.jit.script(g)", "torch.jit.script", "compilers of torch"),
        (
            "",
            "torch.library.get_kernel('aten::mm', 'CPU')",
            "torch.library.get_kernel",
            "compilers",
        ),
        (
            "from torch.utils import cpp_extension",
            "cpp_extension.CUDAExtension('a', [])",
            "torch.utils.cpp_extension.CUDAExtension",
            "native code",
        ),
    ],
)
def test_what_the_rules_forbid_is_refused_with_place_fact_and_remedy(
    head: str, line: str, name: str, rule: str
) -> None:
    source = in_forward(line, head)
    with pytest.raises(Refused) as caught:
        check(source)
    message = str(caught.value)
    place = next(n for n, text in enumerate(source.splitlines(), 1) if (line or head) in text)
    assert message.startswith(f"model_new.py:{place} uses {name}, which ")
    assert f"(Rule: {rule}" in message
    assert ("remove" in message) or ("write" in message) or ("use " in message)


@pytest.mark.parametrize(
    "line",
    [
        "system = x; system.fork()",
        "os.path.join('a', 'b')",
        "os.environ.get('A')",
        "compile = self.weight; compile.view(-1)",
        "self.socket = self.requests = x",
        "np = x; np.view(-1)",
        "x.numpy_like = 1",
        "torch.jit.is_scripting()",
        "subprocess = 'ctypes'",
        "self.http.request(x)",
        "torch.compiler.is_compiling()",
        "getattr(x, 'numpy_like')()",
        "self.modules['numpy'] = x",
        "torch.os.path.join('a', 'b')",
    ],
)
def test_innocent_names_are_not_accused(line: str) -> None:
    assert check(in_forward(line)) == ()


def test_a_name_that_means_something_else_here_is_not_accused() -> None:
    assert check(in_forward("def f(np): return np.ones(3)", "import numpy as np")) == ()


def test_an_import_that_is_never_used_is_evidence_only() -> None:
    assert check(f"import numpy as np{MODEL}") == ("model_new.py:1 imports numpy",)


def test_all_broken_rules_are_told_at_once() -> None:
    with pytest.raises(Refused) as caught:
        check(in_forward("os.fork()\ntorch.compile(x)"))
    assert len(str(caught.value).splitlines()) == 2


LOAD_INLINE = in_forward(
    "m = load_inline(name='a', cuda_sources='')",
    "from torch.utils.cpp_extension import load_inline",
)


def test_an_extension_of_its_own_is_unsupported_on_cpu_and_evidence_on_cuda() -> None:
    with pytest.raises(
        UnsupportedOnDevice, match=r"load_inline is not available on the cpu device"
    ):
        check(LOAD_INLINE)
    evidence = check(LOAD_INLINE, CUDA)
    assert any("compiles an extension of its own" in fact for fact in evidence)
    assert "model_new.py never uses cuda_extension" not in evidence


def test_where_cuda_lies_may_be_asked_and_printed() -> None:
    asks = "from torch.utils.cpp_extension import CUDA_HOME\nprint(CUDA_HOME)\n"
    assert len(check(asks + LOAD_INLINE, CUDA)) == len(check(LOAD_INLINE, CUDA)) + 1


@pytest.mark.parametrize(
    ("lines", "fact"),
    [
        ("exec('1')", "calls exec()"),
        ("getattr(x, 'num' + 'py')()", "asks for an attribute by a computed name"),
        ("import sys\nsys.modules['num' + 'py']", "uses sys.modules, which shows more"),
        ("try:\n    x\nexcept RuntimeError:\n    pass", "catches errors"),
        ("cuda_extension.library.gemm(x, x)", "library.gemm, which this task does not allow"),
        ("torch._C._dispatch_dump('aten::mm')", "uses torch._C._dispatch_dump"),
        ("from model import Model", "imports model.Model, the reference"),
    ],
)
def test_what_could_be_innocent_is_evidence(lines: str, fact: str) -> None:
    (evidence,) = check(in_forward(lines))
    assert evidence.startswith("model_new.py:")
    assert fact in evidence


def test_an_allowed_library_call_is_no_evidence() -> None:
    assert check(in_forward("cuda_extension.library.gemm(x, x)"), library=("gemm",)) == ()


def test_a_name_for_the_extension_that_may_be_none_is_still_a_use_of_it() -> None:
    optional = "try:\n    import cuda_extension\nexcept ImportError:\n    cuda_extension = None\n"
    evidence = check(MODEL.replace("import cuda_extension\n", optional))
    assert "model_new.py never uses cuda_extension" not in evidence


def test_a_model_without_kernels_is_noticed() -> None:
    source = MODEL.replace("        cuda_extension.scale(out, x, x.numel())\n", "")
    assert check(source) == ("model_new.py never uses cuda_extension",)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "class ModelNew(:\n    pass",
            "model_new.py:1:16: error: invalid syntax: class ModelNew(:",
        ),
        ("\n\nx = (", "model_new.py:3:5: error: '(' was never closed"),
        ("x = '\0'", "null bytes"),
        ("", "no class ModelNew"),
        ("# class ModelNew: forward", "no class ModelNew"),
        (
            "class ModelNew(nn.Module):\n    pass",
            "model_new.py:1: error: class ModelNew has no method",
        ),
        ("class A: pass\nclass ModelNew(A): pass", "has no method forward"),
        ("class ModelNew(ModelNew): pass", "has no method forward"),
        ("(" * 5000, "model_new.py"),
        ("-" * 200_000 + "1", "model_new.py cannot be parsed"),
    ],
)
def test_what_is_no_model_is_a_compile_error(source: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        check(source)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        "from other import ModelNew",
        "class Base(nn.Module):\n    def forward(self): pass\nclass ModelNew(Base): pass",
        "class ModelNew(torch.nn.Module):\n    forward = f",
        "class ModelNew(make_base()): pass",
        "ModelNew = make()",
        "if True:\n    class ModelNew:\n        def forward(self): pass",
    ],
)
def test_a_forward_may_come_from_elsewhere(source: str) -> None:
    check(source)


@settings(max_examples=100, deadline=None)
@given(st.text() | st.text(alphabet="classModelNw(): \n\\'\"\t#\0{}[]=.1", max_size=80))
def test_any_text_is_checked_or_an_error_of_the_agent(source: str) -> None:
    with pytest.raises(CompileError):
        check(source)


KERNEL = r"""
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include "shared.cuh"
#include <math.h>
// #include <thread>
/* system("ls"); #include <unistd.h> */
const char* text = "system(1); dlopen(2)";
const char* raw = R"(
#include <thread>
)";
struct Tree { void fork(int n) { depth += n; } int depth; };
__device__ int fork(int n) { return n + 1'000; }
__global__ void k(float* x, Tree t) { int system = fork(2); t.fork(system); x[0] = system * (1); }
extern "C" __attribute__((visibility("default"))) void f(float* x) { k<<<1, 1>>>(x, {}); }
"""


def test_an_honest_kernel_gives_no_evidence() -> None:
    files = {"kernels/a.cu": KERNEL, "model_new.py": "#include <thread>\nos.system('a')"}
    assert check_kernels(files, ()) == ()


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("#include <thread>", "includes 'thread'"),
        ("  #  include <unistd.h>", "includes 'unistd.h'"),
        ("#include <sys/mman.h>", "includes 'sys/mman.h'"),
        ("#include <dlfcn.h> // x", "includes 'dlfcn.h'"),
        ("#include <fstream>", "includes 'fstream'"),
        ('#include "/etc/passwd"', "includes '/etc/passwd'"),
        ('#include "../model.py"', "includes '../model.py'"),
        ('#include "a/../../b.h"', "includes 'a/../../b.h'"),
        ('void g() { system("ls"); }', "calls system()"),
        ('void g() { auto p = std::system ("ls"); }', "calls system()"),
        ('void g() { if (::popen("a", "r")) return; }', "calls popen()"),
        ('extern "C" int fork(); int g() { return fork(); }', "calls fork()"),
        ('void g() { dlopen("libc.so", 1); }', "calls dlopen()"),
        ('extern "C" void* dlsym(void*, const char*);', "calls dlsym()"),
        ('void g() { execve("/bin/true", 0, 0); }', "calls execve()"),
        ("__attribute__((constructor)) void g() {}", "constructor function"),
        ("__attribute__((used, __constructor__(101))) void g() {}", "constructor function"),
        ("[[gnu::constructor]] void g() {}", "constructor function"),
    ],
)
def test_what_reaches_out_of_a_kernel_is_refused_with_its_line(line: str, fact: str) -> None:
    source = "// system(1)\n__global__ void k(float* x) { x[0] = 1; }"
    with pytest.raises(Refused) as caught:
        check_kernels({"kernels/a.cu": f"{source}\n{line}\n"}, ())
    number = source.count("\n") + 2
    assert str(caught.value).startswith(f"kernels/a.cu:{number} ")
    assert fact in str(caught.value)


@pytest.mark.parametrize("dead", ["it can't be compiled", "#if 1\nx\n#endif", "#include <thread>"])
def test_what_is_left_out_by_the_preprocessor_is_not_accused(dead: str) -> None:
    source = f"#if 0\n{dead}\nvoid g() {{ system(1); }}\n#endif\n{KERNEL}"
    assert check_kernels({"kernels/a.cu": source}, ()) == ()


@pytest.mark.parametrize(
    "before",
    [
        "#if 0\n#else",
        "#if 0\n#endif",
        "#if 0\n#elif 1",
        "#if 1\n#define X \\\n#if 0",
        "// \\ \n#if 0",
        "#if 0\n%:endif",
        "#if 0\n#e\\\nndif",
        '#if 0\nR"(\n#endif\n)"',
        "#if 0 + 1",
        "/*\n#if 0\n*/",
    ],
)
def test_what_only_seems_left_out_is_refused(before: str) -> None:
    with pytest.raises(Refused, match=r"calls system\(\)"):
        check_kernels({"kernels/a.cu": f"{before}\nvoid g() {{ system(1); }}\n#endif\n"}, ())


def test_a_header_of_the_submission_may_be_reached_by_steps_upwards() -> None:
    files = {
        "kernels/a/a.cu": '#include "../b/b.cuh"',
        "kernels/b/b.cuh": '#include "../c.h"',
        "kernels/c.h": "",
    }
    assert check_kernels(files, ()) == ()


@pytest.mark.parametrize(
    "line",
    [
        "#include <../b.h>",
        '#include "../../b.h"',
        '#include "../x/../b.h"',
        '#include "../none.h"',
        '#include "../b.txt"',
        '#include "..//../kernels/b.h"',
    ],
)
def test_steps_upwards_to_what_is_no_header_there_are_refused(line: str) -> None:
    files = {"kernels/b.h": "", "b.h": "", "kernels/b.txt": "", "kernels/a/a.cu": line}
    with pytest.raises(Refused, match="reaches out of the kernel"):
        check_kernels(files, ())


def test_an_include_of_a_macro_is_no_cuda_for_any_device() -> None:
    source = '// #include X\n#define FILE "/etc/passwd"\n#include FILE\n'
    with pytest.raises(CompileError, match=r"kernels/a.cu:3: error: an #include of something comp"):
        check_kernels({"kernels/a.cu": source}, ())


def test_a_vendor_library_is_evidence_where_the_task_allows_none() -> None:
    files = {"kernels/a.cu": "#include <cublas_v2.h>\n"}
    assert check_kernels(files, ()) == ("kernels/a.cu:1 includes 'cublas_v2.h'",)
    assert check_kernels(files, ("gemm",)) == ()


@pytest.mark.parametrize(
    "piece", ["/*", 'R"x(', '"', "#include", "\\", "a ", "a(", "  ", "aa", "'"]
)
def test_a_long_hostile_text_is_read_to_its_end(piece: str) -> None:
    assert check_kernels({"kernels/a.cu": piece * 50_000}, ()) == ()


def test_load_is_refused_since_its_files_are_no_part_of_a_submission() -> None:
    source = LOAD_INLINE.replace("load_inline", "load")
    with pytest.raises(Refused, match=r"uses torch\.utils\.cpp_extension\.load, .*load_inline"):
        check(source, CUDA)


def test_a_binding_may_include_the_registry_beside_kernels_and_nothing_else_there() -> None:
    binding = '#include "../binding_registry.h"\n'
    assert check_kernels({"kernels/a_binding.cpp": binding}, ()) == ()
    with pytest.raises(Refused, match=r"includes '\.\./model\.py'"):
        check_kernels({"kernels/a_binding.cpp": f'{binding}#include "../model.py"\n'}, ())
