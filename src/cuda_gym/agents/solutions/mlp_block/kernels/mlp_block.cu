// gelu(hidden + bias), in place: what stands between the two products, which the library computes.
#include <cuda_runtime.h>

// GELU's tanh form, with (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)): one exponential, one division.
__device__ __forceinline__ float gelu(float y) {
    const float u = 0.7978845608028654f * (y + 0.044715f * y * y * y);
    return y / (1.0f + expf(-2.0f * u));
}

__global__ void bias_gelu_kernel(float* __restrict__ hidden, const float* __restrict__ bias,
                                 int features) {
    const int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column < features) {
        const size_t i = (size_t)blockIdx.x * features + column;
        hidden[i] = gelu(hidden[i] + bias[column]);
    }
}

extern "C" void bias_gelu(float* hidden, const float* bias, int rows, int features,
                          cudaStream_t stream) {
    const int threads = 256;
    const dim3 blocks(rows, (features + threads - 1) / threads);
    bias_gelu_kernel<<<blocks, threads, 0, stream>>>(hidden, bias, features);
}
