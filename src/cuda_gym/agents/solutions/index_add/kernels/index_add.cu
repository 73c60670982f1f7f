// out[targets[row]] += messages[row]: a thread owns WIDTH columns of the output and goes through all
// rows, so that two rows with one target never meet: no atomics, and always the same sum.
#include <cuda_runtime.h>

constexpr int WIDTH = 32;

__device__ __forceinline__ void add_whole_piece(float* __restrict__ to,
                                                const float* __restrict__ from) {
    float sums[WIDTH];
    for (int i = 0; i < WIDTH; ++i) sums[i] = to[i] + from[i];
    for (int i = 0; i < WIDTH; ++i) to[i] = sums[i];
}

__global__ void index_add_kernel(float* __restrict__ out, const float* __restrict__ messages,
                                 const long long* __restrict__ targets, int rows, int nodes,
                                 int features) {
    const int column = (blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
    const int width = min(WIDTH, features - column);
    for (int node = 0; node < nodes; ++node)
        for (int i = 0; i < width; ++i) out[(size_t)node * features + column + i] = 0.0f;
    for (int row = 0; row < rows; ++row) {
        float* to = out + targets[row] * features + column;
        const float* from = messages + (size_t)row * features + column;
        if (width == WIDTH)
            add_whole_piece(to, from);
        else
            for (int i = 0; i < width; ++i) to[i] += from[i];
    }
}

extern "C" void index_add(float* out, const float* messages, const long long* targets, int rows,
                          int nodes, int features, cudaStream_t stream) {
    const int threads = 1;
    const int blocks = (features + WIDTH - 1) / WIDTH;
    index_add_kernel<<<blocks, threads, 0, stream>>>(out, messages, targets, rows, nodes, features);
}
