// (a cos - b sin, b cos + a sin): one thread a head. The heads of a position share its angles.
#include <cuda_runtime.h>

__global__ void rotary_embedding_kernel(float* __restrict__ out, const float* __restrict__ x,
                                        const float* __restrict__ cos_table,
                                        const float* __restrict__ sin_table, int positions, int heads,
                                        int pairs) {
    const int head = blockIdx.x * blockDim.x + threadIdx.x;
    const int position = blockIdx.y;
    if (head >= heads) return;
    const size_t row = ((size_t)blockIdx.z * positions + position) * heads + head;
    const float* a = x + row * 2 * pairs;
    const float* b = a + pairs;
    const float* cosines = cos_table + (size_t)position * pairs;
    const float* sines = sin_table + (size_t)position * pairs;
    float* to = out + row * 2 * pairs;
    for (int i = 0; i < pairs; ++i) {
        to[i] = a[i] * cosines[i] - b[i] * sines[i];
        to[pairs + i] = b[i] * cosines[i] + a[i] * sines[i];
    }
}

extern "C" void rotary_embedding(float* out, const float* x, const float* cos_table,
                                 const float* sin_table, int batch, int positions, int heads,
                                 int pairs, cudaStream_t stream) {
    const int threads = 8;
    const dim3 blocks((heads + threads - 1) / threads, positions, batch);
    rotary_embedding_kernel<<<blocks, threads, 0, stream>>>(out, x, cos_table, sin_table, positions,
                                                            heads, pairs);
}
