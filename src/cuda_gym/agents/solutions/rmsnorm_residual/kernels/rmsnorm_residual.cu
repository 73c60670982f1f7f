// weight * h / sqrt(mean(h^2) + eps) with h = x + residual: one thread a row.
// h is computed twice, not stored: the second time, x and residual come from the cache.
#include <cuda_runtime.h>

constexpr int LANES = 32;  // independent partial sums, which a compiler can keep in vectors

__device__ float sum_of_squares(const float* __restrict__ x, const float* __restrict__ residual,
                                int features) {
    float lanes[LANES] = {};
    int i = 0;
    for (; i + LANES <= features; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) {
            const float h = x[i + lane] + residual[i + lane];
            lanes[lane] += h * h;
        }
    for (; i < features; ++i) {
        const float h = x[i] + residual[i];
        lanes[0] += h * h;
    }
    for (int lane = 1; lane < LANES; ++lane) lanes[0] += lanes[lane];
    return lanes[0];
}

__global__ void rmsnorm_residual_kernel(float* __restrict__ out, const float* __restrict__ x,
                                        const float* __restrict__ residual,
                                        const float* __restrict__ weight, int rows, int features,
                                        float eps) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const size_t start = (size_t)row * features;
    const float sum = sum_of_squares(x + start, residual + start, features);
    const float scale = 1.0f / sqrtf(sum / features + eps);
    for (int i = 0; i < features; ++i)
        out[start + i] = weight[i] * ((x[start + i] + residual[start + i]) * scale);
}

extern "C" void rmsnorm_residual(float* out, const float* x, const float* residual,
                                 const float* weight, int rows, int features, float eps,
                                 cudaStream_t stream) {
    const int threads = 8;
    rmsnorm_residual_kernel<<<(rows + threads - 1) / threads, threads, 0, stream>>>(
        out, x, residual, weight, rows, features, eps);
}
