"""Right kernels of `scale_task`, written as engineers and language models write them."""

from __future__ import annotations

from tests.conftest import SCALE_MODEL

from cuda_gym.core.task import Submission

_KERNEL = """\
__global__ void k(float* out, const float* x, const float* w, int n, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = expf(x[i]) * w[i % C];
}
"""
_SIGNATURE = """\
extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns, cudaStream_t stream)"""
_C = 'extern "C"'
_BODY = " { k<<<(rows * columns + 127) / 128, 128, 0, stream>>>(out, x, weight, rows * columns, columns); }\n"
_LOOP = " { k<<<8, 96, 0, stream>>>(out, x, weight, rows, columns); }\n"
_FEATURES = (
    'asm volatile("ex2")', "tex2D<float>(t, 0, 0)", "cudaGraphLaunch(g, s)", "thrust::reduce(a)", "cublasSgemm(h)",
    "cg::this_grid().sync()", "__cluster_dims__(2, 1, 1)", "cuda::barrier b;", "#include <torch/extension.h>",
    "#include <thrust/sort.h>", "cudaLaunchCooperativeKernel(f)", "cuLaunchKernel(f)", "__shfl(x, 1)", "printf(x)",
    "PYBIND11_MODULE(x, m)", "REGISTER_BINDING(x, m)", "TORCH_LIBRARY(a, b)", "system()", "fork()", "dlopen()",
    "k<<<g, b>>>(x)", "#include MACRO", "__attribute__((constructor))", 'extern "C" void ghost(int x) {',
    "__global__ void ghost(float* x) {", "__syncthreads();", "cub::DeviceReduce::Sum", "#define scale nothing",
)  # fmt: skip


def _submit(kernel: str, **headers: str) -> Submission:
    more = {f"kernels/{name}.cuh": text for name, text in headers.items()}
    return Submission.of({"model_new.py": SCALE_MODEL, "kernels/k0.cu": kernel, **more})


def _in_folders() -> Submission:
    files = {
        "kernels/ops/scale.cu": f'#include "../common/api.cuh"\nAPI{_SIGNATURE.removeprefix(_C)}{_BODY}',
        "kernels/common/api.cuh": f'#pragma once\n#include "../config.h"\n#define API {_C}\n{_KERNEL}',
        "kernels/config.h": "#pragma once\n#include <cuda_runtime.h>\n",
    }
    return Submission.of({"model_new.py": SCALE_MODEL, **files})


def _kernel(text: str, body: str = _BODY) -> Submission:
    return _submit(f"{text}{_SIGNATURE}{body}")


CUDA_HABITS: dict[str, Submission] = {
    "names its types, and takes what makes a launcher from a header": _submit(
        '#include "api.cuh"\n' + _KERNEL + "API void scale(scalar_t* out, const scalar_t* x, const scalar_t* weight, "
        "index_t rows, index_t columns, cudaStream_t stream)" + _BODY,
        api='#pragma once\n#define API extern "C"\nusing scalar_t = float;\ntypedef int index_t;\n'),
    "leaves out by conditions what is no code, and a launcher": _submit(
        f"""\
#if 0
this isn't C++ at all: system("x");
#include <thread>
#endif
{_KERNEL}{_SIGNATURE}{_BODY}
#define TEST_LEVEL 0
#if TEST_LEVEL > 1
extern "C" void run_tests(float* x, cudaStream_t s) {{ k<<<1, 1, 0, s>>>(x, x, x, 1, 1); }}
#endif
"""),
    "mentions every feature there is in comments and strings": _submit(
        "".join(f"// {line}\n" for line in _FEATURES)
        + "".join(f'static const char* note{n} = R"x({line})x";\n' for n, line in enumerate(_FEATURES))
        + _KERNEL.replace("if (i", f"/* {' '.join(_FEATURES)} */ if (i") + _SIGNATURE + _BODY),
    "has folders, and headers that are reached by steps upwards": _in_folders(),
    "declares its launcher first, and defines it plainly": _submit(
        f"{_SIGNATURE};\n{_KERNEL}{_SIGNATURE.removeprefix(_C)}{_BODY}"),
    "has its launcher in a header": _submit(
        '#include "impl.cuh"\n', impl=f"#pragma once\n{_KERNEL}{_SIGNATURE}{_BODY}"),
    "reads the bits of numbers, and CUDA's constants": _kernel("""\
#include <cuda_runtime.h>
#include <math_constants.h>
union Bits { float f; int i; };
__device__ __forceinline__ float power_of_two(int e) { Bits v; v.i = (e + 127) << 23; return v.f; }
__device__ float exponential(float x) {
    if (x != x) return x;
    if (x > 88.72284f) return CUDART_INF_F;
    if (x < -103.97f) return CUDART_ZERO_F;
    const int n = __float2int_rn(x * CUDART_L2E_F);
    const float r = fmaf(-(float)n, 0.693147182f, x) - (float)n * -1.90465421e-9f;
    float p = 1.9841270e-4f;
    p = fmaf(p, r, 1.3888889e-3f); p = fmaf(p, r, 8.3333333e-3f); p = fmaf(p, r, 4.1666667e-2f);
    p = fmaf(p, r, 1.6666667e-1f); p = fmaf(p, r, 0.5f); p = fmaf(p, r, 1.f); p = fmaf(p, r, 1.f);
    const int h = n / 2;
    return p * power_of_two(h) * power_of_two(n - h);
}
""" + _KERNEL.replace("expf(x[i])", "exponential(__int_as_float(*reinterpret_cast<const int*>(x + i)))")),
    "copies weights to constant memory at each call": _kernel("""\
__constant__ float c_w[4096];
__constant__ int c_dims[2];
__global__ void k(float* out, const float* x, const float* w, bool fits) {
    const int R = c_dims[0], C = c_dims[1];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < R * C; i += blockDim.x * gridDim.x)
        out[i] = expf(x[i]) * (fits ? c_w[i % C] : w[i % C]);
}
""", """ {
    int dims[2] = {rows, columns};
    cudaMemcpyToSymbolAsync(c_dims, dims, sizeof(dims), 0, cudaMemcpyHostToDevice, stream);
    bool fits = columns <= 4096;
    if (fits) cudaMemcpyToSymbolAsync(c_w, weight, columns * sizeof(float), 0, cudaMemcpyDeviceToDevice, stream);
    k<<<32, 256, 0, stream>>>(out, x, weight, fits);
}
"""),
    "carves dynamic shared memory of an odd size into pieces": _kernel("""\
__global__ void k(float* out, const float* x, const float* w, int R, int C) {
    extern __shared__ __align__(16) unsigned char raw[];
    double* one = reinterpret_cast<double*>(raw);
    float* weights = reinterpret_cast<float*>(one + 1);
    char* flags = reinterpret_cast<char*>(weights + C);
    for (int c = threadIdx.x; c < C; c += blockDim.x) { weights[c] = w[c]; flags[c] = 1; }
    if (threadIdx.x == 0) *one = 1.0;
    __syncthreads();
    for (int r = blockIdx.x; r < R; r += gridDim.x)
        for (int c = threadIdx.x; c < C; c += blockDim.x)
            out[r * C + c] = flags[c] ? (float)(*one) * expf(x[r * C + c]) * weights[c] : 0.f;
}
""", """ {
    size_t bytes = sizeof(double) + columns * (sizeof(float) + 1);
    if (bytes > 48 * 1024) cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    k<<<rows < 64 ? rows : 64, 96, bytes, stream>>>(out, x, weight, rows, columns);
}
"""),
    "calls itself, and functions through pointers": _kernel("""\
typedef float (*unary)(float);
__device__ float f_exp(float x) { return expf(x); }
__device__ float f_id(float x) { return x; }
__device__ unary table[2] = {f_exp, f_id};
__device__ void fill(float* out, const float* x, const float* w, int lo, int hi, int C, unary f) {
    if (hi - lo <= 2) { for (int i = lo; i < hi; ++i) out[i] = f(x[i]) * w[i % C]; return; }
    int mid = lo + (hi - lo) / 2;
    fill(out, x, w, lo, mid, C, f);
    fill(out, x, w, mid, hi, C, f);
}
__global__ void k(float* out, const float* x, const float* w, int R, int C) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i < R * C) fill(out, x, w, i, min(i + 8, R * C), C, table[0]);
}
""", " { k<<<(rows * columns / 8 + 64) / 64, 64, 0, stream>>>(out, x, weight, rows, columns); }\n"),
    "draws rows as tickets, and puts the counter back itself": _kernel("""\
__device__ unsigned int ticket = 0, done = 0;
__global__ void k(float* out, const float* x, const float* w, int R, int C) {
    __shared__ int row;
    for (;;) {
        if (threadIdx.x == 0) row = (int)atomicAdd(&ticket, 1u);
        __syncthreads();
        int r = row;
        __syncthreads();
        if (r >= R) break;
        for (int c = threadIdx.x; c < C; c += blockDim.x) out[r * C + c] = expf(x[r * C + c]) * w[c];
    }
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(&done, 1u) == gridDim.x - 1) { ticket = 0; done = 0; __threadfence(); }
    }
}
""", _LOOP),
    "shuffles with the masks of whoever is there": _kernel("""\
__global__ void k(float* out, const float* x, const float* w, int R, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffffu, i < R * C);
    if (i >= R * C) return;
    float v = expf(x[i]);
    float next = __shfl_down_sync(mask, v, 1);
    unsigned here = __activemask();
    float first = __shfl_sync(here, next, __ffs(here) - 1);
    out[i] = __popc(mask) > 0 || first == next ? v * w[i % C] : 0.f;
}
""", " { k<<<(rows * columns + 255) / 256, 256, 0, stream>>>(out, x, weight, rows, columns); }\n"),
    "fills one of two buffers by one warp while another one reads": _kernel("""\
__global__ void k(float* out, const float* x, const float* w, int R, int C) {
    __shared__ float buffer[2][64];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, tiles = (R * C + 63) / 64;
    int stage = 0;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x, stage ^= 1) {
        if (warp == 0)
            for (int j = lane; j < 64; j += 32) buffer[stage][j] = t * 64 + j < R * C ? x[t * 64 + j] : 0.f;
        __syncthreads();
        if (warp == 1)
            for (int j = lane; j < 64; j += 32) {
                int i = t * 64 + j;
                if (i < R * C) out[i] = expf(buffer[stage][j]) * w[i % C];
            }
    }
}
""", " { k<<<16, 64, 0, stream>>>(out, x, weight, rows, columns); }\n"),
    "stages its weights through pinned memory": _kernel(_KERNEL, """ {
    static float* pinned = nullptr;
    static size_t size = 0;
    if (size < (size_t)columns) {
        if (pinned) cudaFreeHost(pinned);
        cudaMallocHost((void**)&pinned, columns * sizeof(float));
        size = columns;
    }
    cudaMemcpyAsync(pinned, weight, columns * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    float* copy;
    cudaMallocAsync((void**)&copy, columns * sizeof(float), stream);
    cudaMemcpyAsync(copy, pinned, columns * sizeof(float), cudaMemcpyHostToDevice, stream);
    k<<<(rows * columns + 127) / 128, 128, 0, stream>>>(out, x, copy, rows * columns, columns);
    cudaFreeAsync(copy, stream);
}
"""),
    "falls through a switch into registers that nobody reads": _kernel("""\
__global__ void k(float* out, const float* x, const float* w, int n, int C) {
    float r[4];
    int base = (blockIdx.x * blockDim.x + threadIdx.x) * 4, count = min(4, max(0, n - base));
    switch (count) {
        case 4: r[3] = x[base + 3]; [[fallthrough]];
        case 3: r[2] = x[base + 2];
        case 2: r[1] = x[base + 1];
        case 1: r[0] = x[base];
        default: break;
    }
#pragma unroll 1
    for (int j = 0; j < count; ++j) out[base + j] = expf(r[j]) * w[(base + j) % C];
}
""", " { k<<<(rows * columns / 4 + 64) / 64, 64, 0, stream>>>(out, x, weight, rows * columns, columns); }\n"),
    "has its printing, its assertions and its timing left in": _kernel("""\
#include <cassert>
#include <chrono>
#include <cstdio>
#include <iostream>
__global__ void k(float* out, const float* x, const float* w, int n, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(C > 0 && "columns");
    if (i == 0) printf("[k] n=%d C=%d x[0]=%f\\n", n, C, x[0]);
    if (i < n) out[i] = expf(x[i]) * w[i % C];
}
""", """ {
    auto begin = std::chrono::steady_clock::now();
    printf("launch %d %d\\n", rows, columns);
    k<<<(rows * columns + 127) / 128, 128, 0, stream>>>(out, x, weight, rows * columns, columns);
    if (std::chrono::steady_clock::now() - begin > std::chrono::hours(1)) std::cerr << "late" << std::endl;
}
"""),
}  # fmt: skip
"""What its author does: the right submission that does it."""
