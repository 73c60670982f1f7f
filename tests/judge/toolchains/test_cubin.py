"""Kernels launched through the driver, on one that notes what it is asked instead of running it."""

from __future__ import annotations

import ctypes
import json
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from cuda_gym.errors import CandidateError, CompileError, MissingTool
from cuda_gym.judge.toolchains import cuda_driver
from cuda_gym.judge.toolchains.cubin import LoadedCubin
from cuda_gym.judge.toolchains.cuda_extension import make_extension
from cuda_gym.judge.toolchains.direct_kernels import parse_kernels

DRIVER = r"""
#include <string.h>
typedef void* P;
int launch[7], shared_limit, status_of_launch, status_of_load, is_capturing, num_parameters;
long stream, context;
char values[16][8];
int cuInit(unsigned f) { return 0; }
int cuCtxGetCurrent(P* p) { *p = 0; return 0; }
int cuCtxSetCurrent(P p) { context = (long)p; return 0; }
int cuCtxGetDevice(int* d) { *d = 0; return 0; }
int cuDeviceGet(int* d, int ordinal) { *d = ordinal; return 0; }
int cuDevicePrimaryCtxRetain(P* p, int d) { *p = (P)(long)(16 + d); return 0; }
int cuDeviceGetAttribute(int* v, int a, int d) { *v = a == 8 ? 49152 : 101376; return 0; }
int cuModuleLoadData(P* m, const char* image) { *m = (P)32; return status_of_load; }
int cuModuleGetFunction(P* f, P m, const char* name) { *f = (P)64; return 0; }
int cuFuncGetAttribute(int* v, int a, P f) {
  *v = a == 0 ? 512 : a == 1 ? 1024 : a == 4 ? 40 : a == 8 ? 48128 : -1;
  return 0;
}
int cuFuncSetAttribute(P f, int a, int v) {
  if (a != 8 || v > 101376 - 1024) return 1;
  shared_limit = v;
  return 0;
}
int cuLaunchKernel(P f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,
                   unsigned h, P s, void** parameters, void** extra) {
  int asked[] = {(int)a, (int)b, (int)c, (int)d, (int)e, (int)g, (int)h};
  if (status_of_launch == 201 && context) status_of_launch = context = 0;
  if (status_of_launch) return status_of_launch;
  memcpy(launch, asked, sizeof launch);
  stream = (long)s;
  for (int i = 0; i < num_parameters; ++i) memcpy(values[i], parameters[i], 8);
  return 0;
}
static long clock_us, times[64];
int cuEventCreate(P* p, unsigned f) { static long n = 1; *p = (P)n++; return 0; }
int cuEventRecord(P e, P s) { clock_us += 4; times[(long)e] = clock_us; return 0; }
int cuEventSynchronize(P e) { return 0; }
int cuEventElapsedTime(float* ms, P a, P b) { *ms = (times[(long)b] - times[(long)a]) / 1e3f; return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuMemHostRegister_v2(P p, size_t n, unsigned f) { return 0; }
int cuMemHostGetDevicePointer_v2(P* d, P p, unsigned f) { *d = p; return 0; }
int cuMemHostUnregister(P p) { return 0; }
int cuMemcpyHtoDAsync_v2(P d, P h, size_t n, P s) { memcpy(d, h, n); return 0; }
int cuStreamIsCapturing(P s, int* status) { *status = is_capturing; return 0; }
int cuGetErrorString(int e, const char** s) {
  *s = e == 1 ? "invalid argument" : e == 700 ? "an illegal memory access was encountered" : "other";
  return 0;
}
"""
SOURCE = """
namespace deep {
__global__ void mixed(float* out, const __half* h, int n, bool b, float e, double d, signed char c,
                      unsigned long long u) {}
}
__global__ void plain(float* x) {}
__global__ void absent(float* x) {}
"""
FILES = {"kernels/a.cu": SOURCE}


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    path = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
    command = [compiler, "-shared", "-fPIC", "-x", "c++", "-", "-o", str(path)]
    code = f'extern "C" {{\n{DRIVER}\n}}'
    subprocess.run(command, input=code, text=True, check=True)
    return ctypes.CDLL(str(path))


@pytest.fixture
def loaded(
    driver: ctypes.CDLL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LoadedCubin]:
    monkeypatch.setattr(cuda_driver, "_LIBRARIES", (driver._name,))
    cuda_driver.load_driver.cache_clear()
    for name in ("shared_limit", "status_of_launch", "status_of_load", "is_capturing"):
        put(driver, name, 0)
    yield LoadedCubin(write(tmp_path))
    cuda_driver.load_driver.cache_clear()


def write(folder: Path) -> Path:
    (folder / "0.cubin").write_bytes(b"\x7fELF")
    names = {"mixed": "_ZN4deep5mixedEPfPK6__halfibfday", "plain": "_Z5plainPf"}
    (folder / "kernels.json").write_text(json.dumps([{"cubin": "0.cubin", "kernels": names}]))
    return folder / "kernels.json"


def put(driver: ctypes.CDLL, name: str, value: int) -> None:
    ctypes.c_int.in_dll(driver, name).value = value


def extension(loaded: LoadedCubin, device: str = "cpu") -> ModuleType:
    return make_extension(
        (),
        loaded,
        device=torch.device(device),
        stream=lambda: 0x77,
        take_error=loaded.take_error,
        allowed_library=(),
        on_library_call=lambda name: None,
        kernels=parse_kernels(FILES),
    )


X, H = torch.zeros(4), torch.zeros(4, dtype=torch.float16)


def test_every_argument_arrives_as_its_type(driver: ctypes.CDLL, loaded: LoadedCubin) -> None:
    put(driver, "num_parameters", 8)
    extension(loaded).kernel("mixed")[(3, 2), (64, 1, 2), 100](
        X, None, -7, True, 1e300, 2.5, -3, 2**63
    )
    put(driver, "num_parameters", 0)
    values = (ctypes.c_char * 8 * 16).in_dll(driver, "values")
    kinds = [("P", 8), ("P", 8), ("i", 4), ("?", 1), ("f", 4), ("d", 8), ("b", 1), ("Q", 8)]
    arrived = [
        struct.unpack(kind, bytes(value)[:size])[0]
        for (kind, size), value in zip(kinds, values, strict=False)
    ]
    assert arrived == [X.data_ptr(), 0, -7, True, float("inf"), 2.5, -3, 2**63]
    assert list((ctypes.c_int * 7).in_dll(driver, "launch")) == [3, 2, 1, 64, 1, 2, 100]
    assert ctypes.c_long.in_dll(driver, "stream").value == 0x77


def test_shared_memory_beyond_what_is_given_unasked_is_asked_for(
    driver: ctypes.CDLL, loaded: LoadedCubin
) -> None:
    limit = ctypes.c_int.in_dll(driver, "shared_limit")
    plain = extension(loaded).kernel("plain")
    plain[1, 1, 48 * 1024 - 1024](X)
    assert limit.value == 0
    plain[1, 1, 48 * 1024](X)
    assert limit.value == 48 * 1024
    plain[1, 1, 200_000](X)  # more than there is
    plain[1, 1, 90_000](X)
    assert limit.value == 90_000


@pytest.mark.parametrize(
    ("status", "configuration", "facts"),
    [
        (1, (7, 256, 120_000), ["deep::mixed was launched with grid (7,1,1) and block (256,1,1)", "120,000 bytes", "invalid argument", "at most 101,376"]),
        (701, (7, 1024), ["40 registers", "at most 512 threads a block"]),
        (700, (7, 256), ["an illegal memory access", "found after the launch of kernel plain", "(2,1,1)"]),
    ],
)  # fmt: skip
def test_a_refused_launch_is_told_in_words_and_only_once(
    driver: ctypes.CDLL,
    loaded: LoadedCubin,
    status: int,
    configuration: tuple[int, ...],
    facts: list[str],
) -> None:
    module = extension(loaded)
    module.kernel("plain")[2, 1](X)
    put(driver, "status_of_launch", status)
    with pytest.raises(RuntimeError) as caught:
        module.kernel("mixed")[configuration](X, H, 1, True, 1.0, 1.0, 1, 1)
    for fact in ["kernel mixed (kernels/a.cu:3)", *facts]:
        assert fact in str(caught.value)
    assert loaded.take_error() is None
    assert loaded.num_launches() == 1


def test_a_thread_that_has_not_used_the_device_yet_can_launch(
    driver: ctypes.CDLL, loaded: LoadedCubin
) -> None:
    ctypes.c_long.in_dll(driver, "context").value = 0
    put(driver, "status_of_launch", 201)
    extension(loaded).kernel("plain")[2, 1](X)
    assert loaded.num_launches() == 1


def test_kernels_are_timed_while_asked_for_and_not_while_captured(
    driver: ctypes.CDLL, loaded: LoadedCubin
) -> None:
    module = extension(loaded)
    module.kernel("plain")[2, 1](X)
    assert loaded.launched_kernels() == ()
    loaded.time_kernels(True)
    put(driver, "is_capturing", 1)
    module.kernel("plain")[7, 1](X)
    put(driver, "is_capturing", 0)
    for grid in (3, 4):
        module.kernel("mixed")[grid, (2, 5)](X, H, 1, True, 1.0, 1.0, 1, 1)
        module.kernel("plain")[2, 1](X)
    first, second = loaded.launched_kernels()
    assert (first.name, first.launches, first.block) == ("deep::mixed", 2, (2, 5, 1))
    assert (second.name, second.launches, second.grid) == ("plain", 2, (2, 1, 1))
    # This driver's kernels take no time: nothing is left without what a pair of events takes.
    assert first.total_ns == second.total_ns == 0
    assert loaded.num_launches() == 6
    loaded.time_kernels(False)
    assert loaded.launched_kernels() == ()


def test_a_kernel_that_the_build_lacks_is_told(loaded: LoadedCubin) -> None:
    with pytest.raises(CompileError, match="has no kernel absent"):
        extension(loaded).kernel("absent")


@pytest.mark.parametrize(
    ("arguments", "kind", "reason"),
    [
        ((X,), TypeError, "kernel mixed takes 8 arguments, got 1"),
        ((X, H, 1, True, 1.0, 1.0, 1, 1), ValueError, r"argument 1 \(float\* out\) of kernel mixed is on cpu, wanted cuda:0"),
        ((X.to("meta"), H, 1, True, 1.0, 1.0, 1, 1), ValueError, "is on meta, wanted cuda:0"),
        ((H, H, 1, True, 1.0, 1.0, 1, 1), TypeError, r"is a torch.float16 tensor, wanted torch.float32"),
        ((None, X, 1, True, 1.0, 1.0, 1, 1), TypeError, r"argument 2 \(const __half\* h\) .* torch.float32 tensor, wanted torch.float16"),
        ((None, None, 1.5, True, 1.0, 1.0, 1, 1), TypeError, r"argument 3 \(int n\) .* is the float 1.5, wanted int"),
        ((None, None, 1, True, 1.0, 1.0, 300, 1), ValueError, r"argument 7 \(signed char c\) .* is 300"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_before_the_launch(
    loaded: LoadedCubin, arguments: tuple[Any, ...], kind: type[Exception], reason: str
) -> None:
    with pytest.raises(kind, match=reason):
        extension(loaded, "cuda:0").kernel("mixed")[1, 1](*arguments)
    assert loaded.num_launches() == 0


def test_variables_that_fill_the_device_are_the_submissions_fault(
    driver: ctypes.CDLL, loaded: LoadedCubin, tmp_path: Path
) -> None:
    put(driver, "status_of_load", 2)
    with pytest.raises(CandidateError, match="no memory on the device"):
        LoadedCubin(write(tmp_path))


def test_without_a_driver_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_driver, "_LIBRARIES", ("libcuda_that_is_not_there.so",))
    cuda_driver.load_driver.cache_clear()
    with pytest.raises(MissingTool, match="no NVIDIA driver"):
        cuda_driver.load_driver()
