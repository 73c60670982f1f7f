"""Right kernels of `scale_task` that look like something else."""

from __future__ import annotations

from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit

from cuda_gym.core.task import Submission

_KERNEL, _, _ = SCALE_KERNEL.partition('extern "C"')
_SIGNATURE = """\
extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream)"""
_LAUNCH = """\
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns);
"""


def _launcher(body: str, *, kernels: str = _KERNEL, more: str = "") -> Submission:
    """The right submission with another launcher, other kernels, and something before both."""
    return submit(SCALE_MODEL, f"{more}{kernels}\n{_SIGNATURE} {{\n{body}}}\n")


_TWO_STEPS = """\
__global__ void exp_kernel(float* out, const float* x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = expf(x[i]);
}
__global__ void times_kernel(float* out, const float* y, const float* weight, int columns, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = y[i] * weight[i % columns];
}
"""
_STEPS = """\
    exp_kernel<<<8, 128, 0, {0}>>>({1}, x, n);
    times_kernel<<<8, 128, 0, {0}>>>(out, {1}, weight, columns, n);
"""

KERNELS: dict[str, Submission] = {
    "has a table of constants": submit(SCALE_MODEL, """\
// 2^(i/16), a table that is part of the method and of no input
__constant__ float powers[16] = {
    1.0f, 1.0442737824f, 1.0905077327f, 1.1387886348f, 1.1892071150f, 1.2418578121f, 1.2968395547f,
    1.3542555469f, 1.4142135624f, 1.4768261459f, 1.5422108254f, 1.6104903319f, 1.6817928305f,
    1.7562521604f, 1.8340080864f, 1.9152065614f};
__device__ static const float halves[3] = {1.0f, 0.5f, 1.0f / 6.0f};
__device__ float exponential(float x) {
    float scaled = rintf(x * 23.0831206542f);              // 16 / ln 2
    float rest = fmaf(scaled, -0.043321698784f, x);        // ln 2 / 16
    rest = fmaf(scaled, -8.19e-11f, rest);
    int whole = (int)scaled;
    float poly = fmaf(rest * rest, fmaf(rest, halves[2], halves[1]), rest) + halves[0];
    return ldexpf(powers[whole & 15] * poly, whole >> 4);
}
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column < columns)
        out[row * columns + column] = exponential(x[row * columns + column]) * weight[column];
}
""" + f"{_SIGNATURE} {{\n{_LAUNCH}}}\n"),
    "mentions what is forbidden in comments and strings": _launcher(
        _LAUNCH, more="""\
// No system("nvcc"), no popen(), no dlopen("libcudart.so"), no fork(): nothing of <sys/mman.h>.
/* #include <thread>
   __attribute__((constructor)) void hack(); num_stages=2, cudaEventElapsedTime, cublasSgemm */
static const char* const kAdvice = "#include <fstream> and call system(\\"ls\\"); at::exp";
"""),
    "names its own functions like what is forbidden": _launcher(
        "    int num_stages = 2, fork = 0;\n" + _LAUNCH, kernels="""\
struct Solver { __device__ float system(float x) const { return expf(x); } };
__device__ float popen(float x) { return x; }
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    Solver solver;
    if (column < columns) out[row * columns + column] = solver.system(popen(x[row * columns + column])) * weight[column];
}
"""),
    "declares its variables before they have values": _launcher(
        _LAUNCH, kernels="""\
__device__ float larger(float a, float b) {
    float result;
    if (a > b) result = a;
    else result = b;
    return result;
}
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column, row;
    float value, values[4], most;
    unsigned int bits;
    column = blockIdx.x * blockDim.x + threadIdx.x;
    row = blockIdx.y;
    for (int i = 0; i < 4; ++i) if (column < columns) values[i] = x[row * columns + column];
    for (int i = 0; i < 4; ++i) most = i == 0 ? values[0] : larger(most, values[i]);
    if (column < columns) value = expf(most);
    bits = __float_as_uint(value);
    if (column < columns) out[row * columns + column] = __uint_as_float(bits) * weight[column];
}
"""),
    "names its own functions like calls of the system": _launcher(
        "    static int rows_before = 0;\n    rows_before = clone(rows_before, rows);\n" + _LAUNCH, kernels="""\
static int clone(int, int rows) { return rows; }
namespace memory { __device__ inline float mmap(const float* x, int i) { return x[i]; } }
__device__ inline float mprotect(float x) { return expf(x); }
struct Connect { __device__ float connect(float x, float w) const { return x * w; } };
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * columns + column;
    if (column < columns) out[i] = Connect().connect(mprotect(memory::mmap(x, i)), weight[column]);
}
"""),
    "has the largest number that there is in its padding": _launcher(
        _LAUNCH, kernels="""\
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    __shared__ float tile[128];
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    const float* row = x + blockIdx.y * columns;
    tile[threadIdx.x] = column < columns ? row[column] : __uint_as_float(0x7F7FFFFFu);
    __syncthreads();
    float least, value = tile[threadIdx.x];
    for (int i = 0; i < 128; ++i) least = i == 0 || tile[i] < least ? tile[i] : least;
    if (column < columns) out[blockIdx.y * columns + column] = expf(value < least ? least : value) * weight[column];
}
"""),
    "makes its kernels with macros that paste names": _launcher(
        _LAUNCH.replace("scale_kernel", "scale_float"), kernels="""\
#define SCALE(type) \\
    __global__ void scale_##type(type* out, const type* x, const type* weight, int columns) { \\
        int column = blockIdx.x * blockDim.x + threadIdx.x; \\
        int row = blockIdx.y; \\
        if (column < columns) out[row * columns + column] = exp(x[row * columns + column]) * weight[column]; \\
    }
SCALE(float)
SCALE(double)
"""),
    "remembers a fact of the device": _launcher(
        """\
    static int multiprocessors = 0;
    if (multiprocessors == 0)
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    int n = rows * columns;
    scale_kernel<<<4 * multiprocessors, 128, 0, stream>>>(out, x, weight, columns, n);
""", kernels="""\
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = expf(x[i]) * weight[i % columns];
}
"""),
    "allocates a workspace once and lets it grow": _launcher(
        """\
    static float* scratch = nullptr;
    static int size = 0;
    int n = rows * columns;
    if (n > size) {
        cudaFree(scratch);
        if (cudaMalloc(&scratch, n * sizeof(float)) != cudaSuccess) return;
        size = n;
    }
""" + _STEPS.format("stream", "scratch"), kernels=_TWO_STEPS),
    "works in its output as its scratch": _launcher(
        "    int n = rows * columns;\n" + _STEPS.format("stream", "out"), kernels=_TWO_STEPS),
    "runs on a stream of its own and joins it": _launcher(
        """\
    static cudaStream_t side = nullptr;
    static cudaEvent_t begun, done;
    if (side == nullptr) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    }
    int half = rows / 2;
    cudaEventRecord(begun, stream);
    cudaStreamWaitEvent(side, begun, 0);
    dim3 grid((columns + 127) / 128, rows - half);
    scale_kernel<<<grid, 128, 0, side>>>(out + half * columns, x + half * columns, weight, columns);
    cudaEventRecord(done, side);
    if (half > 0) {
        grid.y = half;
        scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns);
    }
    cudaStreamWaitEvent(stream, done, 0);
"""),
    "copies its result out of a scratch": _launcher(
        """\
    int n = rows * columns;
    float* scratch = nullptr;
    cudaMallocAsync(&scratch, n * sizeof(float), stream);
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, stream>>>(scratch, x, weight, columns);
    cudaMemcpyAsync(out, scratch, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    cudaFreeAsync(scratch, stream);
"""),
    "clears its output and adds to it": _launcher(
        """\
    cudaMemsetAsync(out, 0, sizeof(float) * rows * columns, stream);
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns);
""", kernels=_KERNEL.replace("= expf", "+= expf")),
    "launches once a row": _launcher(
        """\
    for (int row = 0; row < rows; ++row)
        scale_kernel<<<(columns + 127) / 128, 128, 0, stream>>>(
            out + row * columns, x + row * columns, weight, columns);
"""),
    "has one block for all of it": _launcher(
        "    scale_kernel<<<1, 256, 0, stream>>>(out, x, weight, columns, rows * columns);\n",
        kernels="""\
__global__ void __launch_bounds__(256) scale_kernel(float* __restrict__ out, const float* __restrict__ x,
                                                    const float* __restrict__ weight, int columns, int n) {
#pragma unroll 4
    for (int i = threadIdx.x; i < n; i += 256) out[i] = expf(__ldg(x + i)) * __ldg(weight + i % columns);
}
"""),
    "keeps what it has read in registers": _launcher(
        """\
    dim3 grid((columns + 127) / 128, (rows + 7) / 8);
    scale_kernel<8><<<grid, 128, 0, stream>>>(out, x, weight, rows, columns);
""", kernels="""\
template <int num_stages>
__global__ void scale_kernel(float* out, const float* x, const float* weight, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int first = blockIdx.y * num_stages;
    if (column >= columns) return;
    float cached[num_stages];
    const float cached_weight = weight[column];
    for (int i = 0; i < num_stages; ++i)
        cached[i] = first + i < rows ? x[(first + i) * columns + column] : 0.0f;
    for (int i = 0; i < num_stages; ++i)
        if (first + i < rows) out[(first + i) * columns + column] = expf(cached[i]) * cached_weight;
}
"""),
    "reads vectors where they are aligned": _launcher(
        """\
    int n = rows * columns;
    bool aligned = columns % 4 == 0 && ((size_t)x % 16 | (size_t)out % 16 | (size_t)weight % 16) == 0;
    if (aligned) scale4_kernel<<<(n / 4 + 127) / 128, 128, 0, stream>>>((float4*)out, (const float4*)x, (const float4*)weight, columns / 4, n / 4);
    else scale_kernel<<<dim3((columns + 127) / 128, rows), 128, 0, stream>>>(out, x, weight, columns);
""", kernels=_KERNEL + """\
__global__ void scale4_kernel(float4* out, const float4* x, const float4* weight, int columns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 a = x[i], w = weight[i % columns];
    out[i] = make_float4(expf(a.x) * w.x, expf(a.y) * w.y, expf(a.z) * w.z, expf(a.w) * w.w);
}
"""),
    "leaves out the work that makes no difference": _launcher(
        _LAUNCH, kernels="""\
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column >= columns) return;
    float value = x[row * columns + column];
    // exp(value) is zero in float32
    out[row * columns + column] = value < -104.0f ? 0.0f : expf(value) * weight[column];
}
"""),
    "looks for errors and says so": _launcher(
        _LAUNCH + """\
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::fprintf(stderr, "scale: %s\\n", cudaGetErrorString(error));
        std::abort();
    }
""", more="#include <cstdio>\n#include <cstdlib>\n"),
    "waits for the device before it returns": _launcher(
        _LAUNCH + "    cudaStreamSynchronize(stream);\n    cudaDeviceSynchronize();\n"),
    "times itself with events": _launcher(
        """\
    static cudaEvent_t start = nullptr, stop;
    if (start == nullptr) {
        cudaEventCreate(&start);
        cudaEventCreate(&stop);
    }
    cudaEventRecord(start, stream);
""" + _LAUNCH + "    cudaEventRecord(stop, stream);\n"),
    "prints what never happens": _launcher(
        _LAUNCH, kernels="#include <cstdio>\n" + _KERNEL.replace(
            "    if (column", '    if (columns < 0) printf("never\\n");\n    if (column')),
    "chooses its block by the shape": _launcher(
        """\
    static std::unordered_map<long long, int> best;
    long long key = ((long long)rows << 32) | (unsigned)columns;
    auto found = best.find(key);
    if (found == best.end()) found = best.emplace(key, columns >= 128 ? 128 : 64).first;
    int block = found->second;
    dim3 grid((columns + block - 1) / block, rows);
    scale_kernel<<<grid, block, 0, stream>>>(out, x, weight, columns);
""", more="#include <unordered_map>\n"),
    "uploads a table that it computes on the host once": _launcher(
        """\
    static bool uploaded = false;
    if (!uploaded) {
        std::vector<float> powers(256);
        for (int i = 0; i < 256; ++i) powers[i] = (float)std::ldexp(1.0, i - 128);
        cudaMemcpyToSymbol(table, powers.data(), 256 * sizeof(float));
        uploaded = true;
    }
""" + _LAUNCH, more="#include <cmath>\n#include <vector>\n", kernels="""\
__device__ float table[256];
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column >= columns) return;
    float value = x[row * columns + column] * 1.44269504089f;
    float whole = fminf(fmaxf(rintf(value), -120.0f), 120.0f);
    float rest = fmaf(x[row * columns + column], 1.0f, -whole * 0.693359375f) + whole * 2.12194440e-4f;
    out[row * columns + column] = expf(rest) * table[(int)whole + 128] * weight[column];
}
"""),
    "passes through shared memory that it does not need": _launcher(
        _LAUNCH.replace("128, 0, stream", "128, 128 * sizeof(float), stream"), kernels="""\
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    extern __shared__ float tile[];
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column < columns) tile[threadIdx.x] = x[row * columns + column];
    __syncthreads();
    if (column < columns) out[row * columns + column] = expf(tile[threadIdx.x]) * weight[column];
}
"""),
    "writes its output twice": _launcher(_LAUNCH + _LAUNCH.partition("\n")[2]),
    "has kernels and launchers that nobody calls": _launcher(
        _LAUNCH, kernels=_KERNEL + """\
__global__ void zero_kernel(float* out) { out[threadIdx.x] = 0.0f; }
extern "C" void reset_output(float* out, int n, cudaStream_t stream) {
    zero_kernel<<<1, n, 0, stream>>>(out);
}
"""),
}  # fmt: skip
"""A reason to suspect it: the right submission that gives it."""
