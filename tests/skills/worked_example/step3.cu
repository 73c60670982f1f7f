#include <cuda_runtime.h>

// One kernel: x + residual is computed twice rather than stored.
__global__ void rmsnorm_kernel(float* __restrict__ out, const float* __restrict__ x,
                               const float* __restrict__ residual, const float* __restrict__ weight,
                               int rows, int features, float eps) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const size_t start = (size_t)row * features;
    float sum = 0.0f;
    for (int i = 0; i < features; ++i) {
        const float h = x[start + i] + residual[start + i];
        sum += h * h;
    }
    const float scale = 1.0f / sqrtf(sum / features + eps);
    for (int i = 0; i < features; ++i)
        out[start + i] = weight[i] * ((x[start + i] + residual[start + i]) * scale);
}

extern "C" void rmsnorm_residual(float* out, const float* x, const float* residual, const float* weight,
                                 int rows, int features, float eps, cudaStream_t stream) {
    rmsnorm_kernel<<<(rows + 63) / 64, 64, 0, stream>>>(out, x, residual, weight, rows, features, eps);
}
