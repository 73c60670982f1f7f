from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from cuda_gym.judge.toolchains.cuda_extension import make_extension
from cuda_gym.judge.toolchains.launchers import parse_launchers

SOURCE = """
#include <stdint.h>
#ifdef __CUDACC__
typedef void* cudaStream_t;
#endif
extern "C" {
void scale(float* out, const float* x, int n, float by, cudaStream_t stream)
{ for (int i = 0; i < n; ++i) out[i] = x[i] * by; }
void numbers(double* out, int8_t a, uint8_t b, short c, unsigned d, long long e, size_t f, bool g,
             double h, float i)
{ double v[] = {(double)a, (double)b, (double)c, (double)d, (double)e, (double)f, (double)g, h, i};
  for (int k = 0; k < 9; ++k) out[k] = v[k]; }
int status(int value) { return value; }
void addresses(long long* out, const void* any, const half* h, const nv_bfloat16* b, const bool* m,
               const unsigned char* u, const float4* v, double* d, int* i, cudaStream_t stream)
{ const void* p[] = {any, h, b, m, u, v, d, i, stream};
  for (int k = 0; k < 9; ++k) out[k] = (long long)p[k]; }
void stream_first(void* stream, long long* out) { *out = (long long)stream; }
}
"""
AS_CPP = (
    SOURCE.replace("half*", "void*").replace("nv_bfloat16*", "void*").replace("float4*", "void*")
)
STREAM = 0x1234


class Runtime:
    """What the toolchain's runtime holds: one pending error."""

    def __init__(self) -> None:
        self.error: str | None = None

    def take_error(self) -> str | None:
        error, self.error = self.error, None
        return error


def build(folder: Path, source: str) -> ctypes.CDLL:
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    path = folder / "launchers.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-x", "c++", "-", "-o", path, "-include", "stddef.h"],
        input="#define __CUDACC__\n" + source,
        text=True,
        check=True,
    )
    return ctypes.CDLL(str(path))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return build(tmp_path_factory.mktemp("library"), AS_CPP)


def extension(library: ctypes.CDLL, runtime: Runtime | None = None, **changes: Any) -> ModuleType:
    arguments: dict[str, Any] = {
        "device": torch.device("cpu"),
        "stream": lambda: STREAM,
        "take_error": (runtime or Runtime()).take_error,
        "allowed_library": (),
        "on_library_call": lambda name: None,
        **changes,
    }
    return make_extension(parse_launchers({"kernels/a.cu": SOURCE}), library, **arguments)


def test_a_launcher_computes(library: ctypes.CDLL) -> None:
    x, out = torch.arange(4.0), torch.empty(4)
    assert extension(library).scale(out, x, 4, 2) is None
    assert out.tolist() == [0.0, 2.0, 4.0, 6.0]


def test_every_type_of_number_arrives(library: ctypes.CDLL) -> None:
    out = torch.empty(9, dtype=torch.float64)
    values = [-128, 255, -32768, 2**32 - 1, -(2**40), 2**40, True, 0.1, 0.5]
    extension(library).numbers(out, *values)
    assert out.tolist() == [float(value) for value in values]


def test_every_type_of_tensor_arrives_and_none_is_a_null_pointer(library: ctypes.CDLL) -> None:
    out = torch.empty(9, dtype=torch.int64)
    dtypes = [torch.int16, torch.float16, torch.bfloat16, torch.bool, torch.uint8]
    dtypes += [torch.float32, torch.float64]
    tensors = [torch.zeros(16, dtype=dtype) for dtype in dtypes]
    extension(library).addresses(out, *tensors, None)
    assert out.tolist() == [tensor.data_ptr() for tensor in tensors] + [0, STREAM]


def test_a_parameter_is_a_tensor_and_an_offset_view_starts_where_it_starts(
    library: ctypes.CDLL,
) -> None:
    x, out = torch.nn.Parameter(torch.arange(4.0)), torch.zeros(4)
    extension(library).scale(out[2:], x[1:3], 2, 1.0)
    assert out.tolist() == [0.0, 0.0, 1.0, 2.0]


def test_the_stream_is_filled_in_where_it_stands(library: ctypes.CDLL) -> None:
    out = torch.empty(1, dtype=torch.int64)
    extension(library).stream_first(out)
    assert out.item() == STREAM


X = torch.zeros(4, 4)


class Subclass(torch.Tensor):
    pass


@pytest.mark.parametrize(
    ("arguments", "kind", "facts"),
    [
        ((X, X), TypeError, ["takes 4 arguments, got 2", "scale(float* out, const float* x"]),
        ((X, X, 4, 1.0, 0), TypeError, ["got 5", "stream is filled in"]),
        (
            (X, X.double(), 4, 1.0),
            TypeError,
            [
                "argument 2 (const float* x)",
                "take `const double* x` in its signature, or allocate it as float32",
            ],
        ),
        (
            (X, X.half(), 4, 1.0),
            TypeError,
            ["`const __half* x` in its signature and convert each element with __half2float"],
        ),
        (
            (X, X.to(torch.complex64), 4, 1.0),
            TypeError,
            ["complex64", ": allocate it as float32. Call"],
        ),
        (
            (X, 4, X, 1.0),
            TypeError,
            [
                "argument 2",
                "(const float* x) of launcher scale is exchanged with argument 3 (int n).",
            ],
        ),
        (
            (X.int(), X, 4, 1.0),
            TypeError,
            [
                "(float* out)",
                "torch.int32",
                "allocate it as float32, or take `int* out` in its signature",
            ],
        ),
        ((X, X.t(), 4, 1.0), ValueError, ["argument 2", "not contiguous", "strides [1, 4]"]),
        ((X, X.to("meta"), 4, 1.0), ValueError, ["argument 2", "on meta, wanted cpu"]),
        ((X, [1.0], 4, 1.0), TypeError, ["argument 2", "is a list"]),
        ((X, X.as_subclass(Subclass), 4, 1.0), TypeError, ["a tensor of shape [4, 4]"]),
        ((X, X, torch.tensor(4), 1.0), TypeError, ["argument 3 (int n)", ".item()"]),
        ((X, X, 4.0, 1.0), TypeError, ["the float 4.0", "int()"]),
        ((X, X, 2**31, 1.0), ValueError, ["2147483648", "to 2147483647"]),
        ((X, X, None, 1.0), TypeError, ["argument 3", "NoneType"]),
        ((X, X, 4, "1"), TypeError, ["argument 4 (float by)", "is a str"]),
        ((X, X, 4, 10**400), ValueError, ["argument 4", "beyond the range"]),
    ],
)
def test_an_argument_that_does_not_fit_is_named_with_the_way_out(
    library: ctypes.CDLL, arguments: tuple[Any, ...], kind: type[Exception], facts: list[str]
) -> None:
    with pytest.raises(kind) as caught:
        extension(library).scale(*arguments)
    for fact in [*facts, "scale"]:
        assert fact in str(caught.value)


def test_arguments_by_keyword_are_answered_with_the_signature(library: ctypes.CDLL) -> None:
    with pytest.raises(TypeError, match=r"by position\. Call it as scale\(float\* out"):
        extension(library).scale(X, X, n=4, by=1.0)


def test_a_vector_pointer_must_be_aligned(library: ctypes.CDLL) -> None:
    out, x = torch.empty(9, dtype=torch.int64), torch.zeros(16)
    nothing = [None] * 5
    extension(library).addresses(out, *nothing, x[4:], None, None)
    with pytest.raises(ValueError, match="no multiple of 16 bytes"):
        extension(library).addresses(out, *nothing, x[1:], None, None)


def test_a_status_that_is_not_zero_raises_the_runtimes_message(library: ctypes.CDLL) -> None:
    runtime = Runtime()
    module = extension(library, runtime)
    module.status(0)
    runtime.error = "invalid configuration argument"
    with pytest.raises(
        RuntimeError,
        match=r"launcher status \(kernels/a\.cu:13\) returned 9: invalid configuration",
    ):
        module.status(9)
    with pytest.raises(RuntimeError, match=r"launcher status .* returned 1"):
        module.status(1)


def test_a_pending_error_raises_although_the_launcher_returns_nothing(library: ctypes.CDLL) -> None:
    runtime = Runtime()
    module = extension(library, runtime)
    runtime.error = "an illegal memory access was encountered"
    with pytest.raises(
        RuntimeError, match=r"launcher scale \(kernels/a\.cu:7\): an illegal memory access"
    ):
        module.scale(X, X, 0, 1.0)
    module.scale(X, X, 0, 1.0)


def test_an_unknown_name_is_answered_with_the_known_ones(library: ctypes.CDLL) -> None:
    module = extension(library)
    with pytest.raises(AttributeError, match=r"no 'scal'. Did you mean 'scale'\? It has: scale, "):
        _ = module.scal
    with pytest.raises(AttributeError, match="Did you mean 'gemm'"):
        _ = module.library.gem
    assert "scale(float* out" in str(module.__doc__)


def test_a_launcher_that_the_library_lacks_is_told_with_its_place_where_it_is_called(
    library: ctypes.CDLL,
) -> None:
    launchers = parse_launchers({"kernels/b.cu": '\nextern "C" void nowhere(int n) {}'})
    module = make_extension(
        launchers,
        library,
        device=torch.device("cpu"),
        stream=lambda: 0,
        take_error=lambda: None,
        allowed_library=(),
        on_library_call=lambda name: None,
    )
    with pytest.raises(
        AttributeError,
        match=r"no launcher nowhere, although kernels/b\.cu:2 defines it; take it out",
    ):
        _ = module.nowhere


def test_library_calls_are_told_and_only_the_allowed_ones_work(library: ctypes.CDLL) -> None:
    told: list[str] = []
    module = extension(library, allowed_library=("gemm",), on_library_call=told.append)
    a = torch.ones(2, 3)
    assert module.library.gemm(a, a, transpose_b=True).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    with pytest.raises(
        RuntimeError, match=r"this task does not allow library\.bmm; write the kernel"
    ):
        module.library.bmm(a[None], a[None])
    assert told == ["gemm"]
