// out[targets[row]] += messages[row]: zeros first, then a thread an element with an atomic addition.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void clear(float* __restrict__ out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 0.0f;
}

__global__ void index_add_kernel(float* __restrict__ out, const float* __restrict__ messages,
                                 const long long* __restrict__ targets, int features) {
    const int row = blockIdx.x;
    for (int i = threadIdx.x; i < features; i += THREADS)
        atomicAdd(&out[targets[row] * features + i], messages[(size_t)row * features + i]);
}

extern "C" void index_add(float* out, const float* messages, const long long* targets, int rows,
                          int nodes, int features, cudaStream_t stream) {
    const int count = nodes * features;
    clear<<<(count + THREADS - 1) / THREADS, THREADS, 0, stream>>>(out, count);
    index_add_kernel<<<rows, THREADS, 0, stream>>>(out, messages, targets, features);
}
