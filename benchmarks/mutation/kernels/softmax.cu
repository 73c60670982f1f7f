// softmax of each row by a block, with a maximum and a sum by trees in one piece of shared memory.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__device__ float block_maximum(float value, float* shared) {
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int width = THREADS / 2; width > 0; width /= 2) {
        if (threadIdx.x < width)
            shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + width]);
        __syncthreads();
    }
    return shared[0];
}

__device__ float block_sum(float value, float* shared) {
    __syncthreads();
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int width = THREADS / 2; width > 0; width /= 2) {
        if (threadIdx.x < width) shared[threadIdx.x] += shared[threadIdx.x + width];
        __syncthreads();
    }
    return shared[0];
}

__global__ void softmax_kernel(float* __restrict__ out, const float* __restrict__ x, int columns) {
    __shared__ float shared[THREADS];
    const float* from = x + (size_t)blockIdx.x * columns;
    float* to = out + (size_t)blockIdx.x * columns;
    float largest = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += THREADS) largest = fmaxf(largest, from[i]);
    const float maximum = block_maximum(largest, shared);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += THREADS) sum += expf(from[i] - maximum);
    const float total = block_sum(sum, shared);
    for (int i = threadIdx.x; i < columns; i += THREADS) to[i] = expf(from[i] - maximum) / total;
}

extern "C" void softmax(float* out, const float* x, int rows, int columns, cudaStream_t stream) {
    softmax_kernel<<<rows, THREADS, 0, stream>>>(out, x, columns);
}
