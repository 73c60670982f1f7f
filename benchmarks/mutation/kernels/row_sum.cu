// Sum of each row by a block: each thread sums every THREADS-th element, then a tree in shared memory.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void row_sum_kernel(float* __restrict__ out, const float* __restrict__ x, int columns) {
    __shared__ float sums[THREADS];
    const float* row = x + (size_t)blockIdx.x * columns;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += THREADS) sum += row[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int width = THREADS / 2; width > 0; width /= 2) {
        if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

extern "C" void row_sum(float* out, const float* x, int rows, int columns, cudaStream_t stream) {
    row_sum_kernel<<<rows, THREADS, 0, stream>>>(out, x, columns);
}
