// weight * (x - mean) / sqrt(variance + eps) + bias by a block a row: two sums by trees.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__device__ float block_sum(float value, float* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int width = THREADS / 2; width > 0; width /= 2) {
        if (threadIdx.x < width) shared[threadIdx.x] += shared[threadIdx.x + width];
        __syncthreads();
    }
    const float sum = shared[0];
    __syncthreads();
    return sum;
}

__global__ void layer_norm_kernel(float* __restrict__ out, const float* __restrict__ x,
                                  const float* __restrict__ weight, const float* __restrict__ bias,
                                  int features, float eps) {
    __shared__ float shared[THREADS];
    const float* from = x + (size_t)blockIdx.x * features;
    float* to = out + (size_t)blockIdx.x * features;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < features; i += THREADS) sum += from[i];
    const float mean = block_sum(sum, shared) / features;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < features; i += THREADS)
        squares += (from[i] - mean) * (from[i] - mean);
    const float variance = block_sum(squares, shared) / features;
    const float scale = 1.0f / sqrtf(variance + eps);
    for (int i = threadIdx.x; i < features; i += THREADS)
        to[i] = (from[i] - mean) * scale * weight[i] + bias[i];
}

extern "C" void layer_norm(float* out, const float* x, const float* weight, const float* bias,
                           int rows, int features, float eps, cudaStream_t stream) {
    layer_norm_kernel<<<rows, THREADS, 0, stream>>>(out, x, weight, bias, features, eps);
}
