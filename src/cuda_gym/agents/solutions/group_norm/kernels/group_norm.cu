// weight * (x - mean) / sqrt(variance + eps) + bias, with mean and variance of a group of channels:
// one thread a group, whose elements lie side by side. It is read three times, twice from the cache.
// The variance is that of x - mean: as a difference of two large numbers it would lose its digits.
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

__global__ void group_norm_kernel(float* __restrict__ out, const float* __restrict__ x,
                                  const float* __restrict__ weight, const float* __restrict__ bias,
                                  int batch, int groups, int group_channels, int pixels, float eps) {
    const int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= batch * groups) return;
    const int count = group_channels * pixels;
    const float* from = x + (size_t)group * count;
    float* to = out + (size_t)group * count;
    const float mean = mean_of(from, count);
    const float inverse = 1.0f / sqrtf(variance_of(from, count, mean) + eps);
    const int first = group % groups * group_channels;
    for (int channel = 0; channel < group_channels; ++channel) {
        const float scale = weight[first + channel] * inverse;
        const float shift = bias[first + channel];
        const int plane = channel * pixels;
        for (int i = 0; i < pixels; ++i) to[plane + i] = (from[plane + i] - mean) * scale + shift;
    }
}

extern "C" void group_norm(float* out, const float* x, const float* weight, const float* bias,
                           int batch, int groups, int group_channels, int pixels, float eps,
                           cudaStream_t stream) {
    const int threads = 2;
    const int blocks = (batch * groups + threads - 1) / threads;
    group_norm_kernel<<<blocks, threads, 0, stream>>>(out, x, weight, bias, batch, groups,
                                                      group_channels, pixels, eps);
}
