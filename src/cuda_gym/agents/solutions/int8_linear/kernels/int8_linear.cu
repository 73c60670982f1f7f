// (x @ quantised) * scale: one thread computes HEIGHT x WIDTH outputs and keeps them in registers.
// WIDTH weights are widened together and serve HEIGHT rows; they never go back to memory as floats.
#include <cuda_runtime.h>

constexpr int HEIGHT = 8;
constexpr int WIDTH = 32;

__device__ void whole_tile(float* __restrict__ out, const float* __restrict__ x,
                           const signed char* __restrict__ quantised,
                           const float* __restrict__ scales, int inner, int columns) {
    float sums[HEIGHT][WIDTH] = {};
    for (int k = 0; k < inner; ++k) {
        float weights[WIDTH];
        for (int c = 0; c < WIDTH; ++c) weights[c] = (float)quantised[(size_t)k * columns + c];
        for (int r = 0; r < HEIGHT; ++r) {
            const float factor = x[(size_t)r * inner + k];
            for (int c = 0; c < WIDTH; ++c) sums[r][c] += factor * weights[c];
        }
    }
    for (int r = 0; r < HEIGHT; ++r)
        for (int c = 0; c < WIDTH; ++c) out[(size_t)r * columns + c] = sums[r][c] * scales[c];
}

__device__ void part_of_tile(float* __restrict__ out, const float* __restrict__ x,
                             const signed char* __restrict__ quantised,
                             const float* __restrict__ scales, int height, int width, int inner,
                             int columns) {
    for (int r = 0; r < height; ++r)
        for (int c = 0; c < width; ++c) {
            float sum = 0.0f;
            for (int k = 0; k < inner; ++k)
                sum += x[(size_t)r * inner + k] * (float)quantised[(size_t)k * columns + c];
            out[(size_t)r * columns + c] = sum * scales[c];
        }
}

__global__ void int8_linear_kernel(float* __restrict__ out, const float* __restrict__ x,
                                   const signed char* __restrict__ quantised,
                                   const float* __restrict__ scales, int rows, int inner,
                                   int columns) {
    const int column = (blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
    const int row = blockIdx.y * HEIGHT;
    const int height = min(HEIGHT, rows - row);
    const int width = min(WIDTH, columns - column);
    float* tile = out + (size_t)row * columns + column;
    const float* from = x + (size_t)row * inner;
    if (height == HEIGHT && width == WIDTH)
        whole_tile(tile, from, quantised + column, scales + column, inner, columns);
    else
        part_of_tile(tile, from, quantised + column, scales + column, height, width, inner, columns);
}

extern "C" void int8_linear(float* out, const float* x, const signed char* quantised,
                            const float* scales, int rows, int inner, int columns,
                            cudaStream_t stream) {
    const int threads = 4;
    const dim3 blocks((columns + threads * WIDTH - 1) / (threads * WIDTH),
                      (rows + HEIGHT - 1) / HEIGHT);
    int8_linear_kernel<<<blocks, threads, 0, stream>>>(out, x, quantised, scales, rows, inner,
                                                       columns);
}
