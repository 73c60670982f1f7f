// x @ weight for each group: one thread computes HEIGHT x WIDTH outputs and keeps them in registers,
// so that a value of x serves WIDTH products and a row of weight serves HEIGHT.
#include <cuda_runtime.h>

constexpr int HEIGHT = 8;
constexpr int WIDTH = 32;

__device__ void whole_tile(float* __restrict__ out, const float* __restrict__ x,
                           const float* __restrict__ weight, int inner, int columns) {
    float sums[HEIGHT][WIDTH] = {};
    for (int k = 0; k < inner; ++k) {
        const float* weights = weight + (size_t)k * columns;
        for (int r = 0; r < HEIGHT; ++r) {
            const float factor = x[(size_t)r * inner + k];
            for (int c = 0; c < WIDTH; ++c) sums[r][c] += factor * weights[c];
        }
    }
    for (int r = 0; r < HEIGHT; ++r)
        for (int c = 0; c < WIDTH; ++c) out[(size_t)r * columns + c] = sums[r][c];
}

__device__ void part_of_tile(float* __restrict__ out, const float* __restrict__ x,
                             const float* __restrict__ weight, int height, int width, int inner,
                             int columns) {
    for (int r = 0; r < height; ++r)
        for (int c = 0; c < width; ++c) {
            float sum = 0.0f;
            for (int k = 0; k < inner; ++k)
                sum += x[(size_t)r * inner + k] * weight[(size_t)k * columns + c];
            out[(size_t)r * columns + c] = sum;
        }
}

__global__ void batched_matmul_kernel(float* __restrict__ out, const float* __restrict__ x,
                                      const float* __restrict__ weight, int rows, int inner,
                                      int columns) {
    const int column = (blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
    const int row = blockIdx.y * HEIGHT;
    const int height = min(HEIGHT, rows - row);
    const int width = min(WIDTH, columns - column);
    const size_t group = blockIdx.z;
    float* tile = out + (group * rows + row) * columns + column;
    const float* from = x + (group * rows + row) * inner;
    const float* matrix = weight + group * inner * columns + column;
    if (height == HEIGHT && width == WIDTH)
        whole_tile(tile, from, matrix, inner, columns);
    else
        part_of_tile(tile, from, matrix, height, width, inner, columns);
}

extern "C" void batched_matmul(float* out, const float* x, const float* weight, int groups, int rows,
                               int inner, int columns, cudaStream_t stream) {
    const int threads = 4;
    const dim3 blocks((columns + threads * WIDTH - 1) / (threads * WIDTH),
                      (rows + HEIGHT - 1) / HEIGHT, groups);
    batched_matmul_kernel<<<blocks, threads, 0, stream>>>(out, x, weight, rows, inner, columns);
}
