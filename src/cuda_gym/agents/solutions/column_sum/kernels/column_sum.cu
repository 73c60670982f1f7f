// Sum of each column in two steps: the rows are cut into parts, in each of which one thread sums
// WIDTH columns at once, so that it reads whole lines of the cache; then the parts are summed.
#include <cuda_runtime.h>

constexpr int WIDTH = 64;

__global__ void sums_of_parts(float* __restrict__ sums, const float* __restrict__ x, int rows,
                              int columns, int part) {
    const int column = (blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
    const int row = blockIdx.y * part;
    const int height = min(part, rows - row);
    const float* from = x + (size_t)row * columns + column;
    float* to = sums + (size_t)blockIdx.y * columns + column;
    if (column + WIDTH <= columns) {
        float lanes[WIDTH] = {};
        for (int r = 0; r < height; ++r)
            for (int i = 0; i < WIDTH; ++i) lanes[i] += from[(size_t)r * columns + i];
        for (int i = 0; i < WIDTH; ++i) to[i] = lanes[i];
    } else {
        for (int i = 0; column + i < columns; ++i) {
            float sum = 0.0f;
            for (int r = 0; r < height; ++r) sum += from[(size_t)r * columns + i];
            to[i] = sum;
        }
    }
}

extern "C" void column_sum(float* out, float* partial, const float* x, int rows, int columns,
                           int part, cudaStream_t stream) {
    const int threads = 4;
    const int blocks = (columns + threads * WIDTH - 1) / (threads * WIDTH);
    const int parts = (rows + part - 1) / part;
    sums_of_parts<<<dim3(blocks, parts), threads, 0, stream>>>(partial, x, rows, columns, part);
    sums_of_parts<<<dim3(blocks, 1), threads, 0, stream>>>(out, partial, parts, columns, parts);
}
