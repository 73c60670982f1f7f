// Sum of each row: one thread a row, with LANES independent partial sums, so that no addition
// waits for the one before it and a compiler can keep the sums in vectors.
#include <cuda_runtime.h>

constexpr int LANES = 64;

__global__ void row_sum_kernel(float* __restrict__ out, const float* __restrict__ x, int rows,
                               int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* from = x + (size_t)row * columns;
    float lanes[LANES] = {};
    int i = 0;
    for (; i + LANES <= columns; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) lanes[lane] += from[i + lane];
    for (; i < columns; ++i) lanes[0] += from[i];
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    out[row] = lanes[0];
}

extern "C" void row_sum(float* out, const float* x, int rows, int columns, cudaStream_t stream) {
    const int threads = 8;
    row_sum_kernel<<<(rows + threads - 1) / threads, threads, 0, stream>>>(out, x, rows, columns);
}
