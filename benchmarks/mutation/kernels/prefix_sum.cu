// Prefix sums of each row by a block: THREADS elements at a time by steps of doubled distance, in two
// buffers that take turns, and the sum of all before carried along.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void prefix_sum_kernel(float* __restrict__ out, const float* __restrict__ x,
                                  int columns) {
    __shared__ float buffers[2 * THREADS];
    float* from = buffers;
    float* to = buffers + THREADS;
    const int t = threadIdx.x;
    const size_t start = (size_t)blockIdx.x * columns;
    float carried = 0.0f;
    for (int first = 0; first < columns; first += THREADS) {
        from[t] = first + t < columns ? x[start + first + t] : 0.0f;
        __syncthreads();
        for (int distance = 1; distance < THREADS; distance *= 2) {
            to[t] = t >= distance ? from[t] + from[t - distance] : from[t];
            __syncthreads();
            float* const other = from;
            from = to;
            to = other;
        }
        if (first + t < columns) out[start + first + t] = carried + from[t];
        carried += from[THREADS - 1];
        __syncthreads();
    }
}

extern "C" void prefix_sum(float* out, const float* x, int rows, int columns, cudaStream_t stream) {
    prefix_sum_kernel<<<rows, THREADS, 0, stream>>>(out, x, columns);
}
