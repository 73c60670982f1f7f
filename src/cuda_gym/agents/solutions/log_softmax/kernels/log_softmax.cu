// (row - maximum) - log(sum(exp(row - maximum))): one thread a row, and nothing is written but the
// result. Maxima and sums are kept in LANES independent parts, which a compiler can keep in vectors.
#include <cuda_runtime.h>

constexpr int LANES = 32;

__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }

// exp(x) for x <= 0, half the work of expf: it cannot overflow, and below -87 it stops at 1e-38.
// exp(x) = 2^k exp(r), with k the integer nearest to x / ln 2 and r in [-0.35, 0.35]; adding
// 1.5 * 2^23 rounds to an integer and leaves k in the low bits, ready to become an exponent.
__device__ __forceinline__ float exp_of_negative(float x) {
    const float shifter = 12582912.0f;
    x = x < -87.0f ? -87.0f : x;
    const float shifted = fmaf(x, 1.442695041f, shifter);
    const float k = shifted - shifter;
    const float r = fmaf(k, 1.428606820e-6f, fmaf(k, -0.693148613f, x));
    float p = fmaf(r, 1.388888889e-3f, 8.333333333e-3f);
    p = fmaf(p, r, 4.166666667e-2f);
    p = fmaf(p, r, 1.666666667e-1f);
    p = fmaf(p, r, 0.5f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    return __int_as_float(__float_as_int(p) + (__float_as_int(shifted) << 23));
}

__device__ float row_maximum(const float* __restrict__ row, int columns) {
    float lanes[LANES];
    for (int lane = 0; lane < LANES; ++lane) lanes[lane] = row[0];
    int i = 0;
    for (; i + LANES <= columns; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) lanes[lane] = larger(row[i + lane], lanes[lane]);
    for (; i < columns; ++i) lanes[0] = larger(row[i], lanes[0]);
    for (int lane = 1; lane < LANES; ++lane) lanes[0] = larger(lanes[lane], lanes[0]);
    return lanes[0];
}

__device__ float sum_of_exponentials(const float* __restrict__ row, int columns, float maximum) {
    float lanes[LANES] = {};
    int i = 0;
    for (; i + LANES <= columns; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) lanes[lane] += exp_of_negative(row[i + lane] - maximum);
    for (; i < columns; ++i) lanes[0] += exp_of_negative(row[i] - maximum);
    for (int lane = 1; lane < LANES; ++lane) lanes[0] += lanes[lane];
    return lanes[0];
}

__global__ void log_softmax_kernel(float* __restrict__ out, const float* __restrict__ x, int rows,
                                   int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* from = x + (size_t)row * columns;
    float* to = out + (size_t)row * columns;
    const float maximum = row_maximum(from, columns);
    const float log_sum = logf(sum_of_exponentials(from, columns, maximum));
    for (int i = 0; i < columns; ++i) to[i] = (from[i] - maximum) - log_sum;
}

extern "C" void log_softmax(float* out, const float* x, int rows, int columns,
                            cudaStream_t stream) {
    const int threads = 8;
    log_softmax_kernel<<<(rows + threads - 1) / threads, threads, 0, stream>>>(out, x, rows, columns);
}
