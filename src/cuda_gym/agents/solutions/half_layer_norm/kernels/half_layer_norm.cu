// weight * (x - mean) / sqrt(variance + eps) + bias in float16: one thread a row, all sums in float.
// The variance is that of the differences from the mean, so that a mean far from zero costs no
// digits; of the three times that a row is read, two are from the cache.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int LANES = 32;  // independent partial sums, which a compiler can keep in vectors

__device__ __forceinline__ float sum_of(const float* lanes) {
    float sum = 0.0f;
    for (int lane = 0; lane < LANES; ++lane) sum += lanes[lane];
    return sum;
}

__device__ float mean_of(const __half* __restrict__ row, int features) {
    float lanes[LANES] = {};
    int i = 0;
    for (; i + LANES <= features; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) lanes[lane] += __half2float(row[i + lane]);
    for (; i < features; ++i) lanes[0] += __half2float(row[i]);
    return sum_of(lanes) / features;
}

__device__ float variance_of(const __half* __restrict__ row, int features, float mean) {
    float lanes[LANES] = {};
    int i = 0;
    for (; i + LANES <= features; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) {
            const float difference = __half2float(row[i + lane]) - mean;
            lanes[lane] += difference * difference;
        }
    for (; i < features; ++i) {
        const float difference = __half2float(row[i]) - mean;
        lanes[0] += difference * difference;
    }
    return sum_of(lanes) / features;
}

__global__ void half_layer_norm_kernel(__half* __restrict__ out, const __half* __restrict__ x,
                                       const __half* __restrict__ weight,
                                       const __half* __restrict__ bias, int rows, int features,
                                       float eps) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const __half* from = x + (size_t)row * features;
    __half* to = out + (size_t)row * features;
    const float mean = mean_of(from, features);
    const float scale = 1.0f / sqrtf(variance_of(from, features, mean) + eps);
    for (int i = 0; i < features; ++i) {
        const float normalised = (__half2float(from[i]) - mean) * scale;
        to[i] = __float2half(normalised * __half2float(weight[i]) + __half2float(bias[i]));
    }
}

extern "C" void half_layer_norm(__half* out, const __half* x, const __half* weight,
                                const __half* bias, int rows, int features, float eps,
                                cudaStream_t stream) {
    const int threads = 8;
    half_layer_norm_kernel<<<(rows + threads - 1) / threads, threads, 0, stream>>>(
        out, x, weight, bias, rows, features, eps);
}
