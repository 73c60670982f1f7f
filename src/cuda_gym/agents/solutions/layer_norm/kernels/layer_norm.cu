// weight * (x - mean) / sqrt(variance + eps) + bias: one thread a row, which it reads three times,
// twice of them from the cache. The variance is that of x - mean: as a difference of two large
// numbers it would lose its digits where the mean is large.
#include <cuda_runtime.h>

constexpr int LANES = 32;  // independent partial sums, which a compiler can keep in vectors

__device__ float mean_of(const float* __restrict__ x, int count) {
    float lanes[LANES] = {};
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) lanes[lane] += x[i + lane];
    for (; i < count; ++i) lanes[0] += x[i];
    for (int lane = 1; lane < LANES; ++lane) lanes[0] += lanes[lane];
    return lanes[0] / count;
}

__device__ float variance_of(const float* __restrict__ x, int count, float mean) {
    float lanes[LANES] = {};
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) {
            const float off = x[i + lane] - mean;
            lanes[lane] += off * off;
        }
    for (; i < count; ++i) lanes[0] += (x[i] - mean) * (x[i] - mean);
    for (int lane = 1; lane < LANES; ++lane) lanes[0] += lanes[lane];
    return lanes[0] / count;
}

__global__ void layer_norm_kernel(float* __restrict__ out, const float* __restrict__ x,
                                  const float* __restrict__ weight, const float* __restrict__ bias,
                                  int rows, int features, float eps) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* from = x + (size_t)row * features;
    float* to = out + (size_t)row * features;
    const float mean = mean_of(from, features);
    const float scale = 1.0f / sqrtf(variance_of(from, features, mean) + eps);
    for (int i = 0; i < features; ++i) to[i] = (from[i] - mean) * scale * weight[i] + bias[i];
}

extern "C" void layer_norm(float* out, const float* x, const float* weight, const float* bias,
                           int rows, int features, float eps, cudaStream_t stream) {
    const int threads = 8;
    layer_norm_kernel<<<(rows + threads - 1) / threads, threads, 0, stream>>>(out, x, weight, bias,
                                                                              rows, features, eps);
}
