// Transpose by tiles of 16 x 16: a row of a tile is 64 bytes, one line of the cache, so each line
// is fetched once and written while it is near. One thread moves one tile, in parts of 4 x 4, which
// fit into registers.
#include <cuda_runtime.h>

constexpr int TILE = 16;
constexpr int PART = 4;

__device__ __forceinline__ void move_part(float* __restrict__ to, const float* __restrict__ from,
                                          int rows, int columns) {
    float part[PART][PART];
    for (int r = 0; r < PART; ++r)
        for (int c = 0; c < PART; ++c) part[c][r] = from[(size_t)r * columns + c];
    for (int c = 0; c < PART; ++c)
        for (int r = 0; r < PART; ++r) to[(size_t)c * rows + r] = part[c][r];
}

__device__ void move_whole_tile(float* __restrict__ to, const float* __restrict__ from, int rows,
                                int columns) {
    for (int c = 0; c < TILE; c += PART)
        for (int r = 0; r < TILE; r += PART)
            move_part(to + (size_t)c * rows + r, from + (size_t)r * columns + c, rows, columns);
}

__global__ void transpose_kernel(float* __restrict__ out, const float* __restrict__ x, int rows,
                                 int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) * TILE;
    const int column = blockIdx.y * TILE;
    const int height = min(TILE, rows - row);
    const int width = min(TILE, columns - column);
    const float* from = x + (size_t)row * columns + column;
    float* to = out + (size_t)column * rows + row;
    if (height == TILE && width == TILE) {
        move_whole_tile(to, from, rows, columns);
    } else {
        for (int c = 0; c < width; ++c)
            for (int r = 0; r < height; ++r) to[(size_t)c * rows + r] = from[(size_t)r * columns + c];
    }
}

extern "C" void transpose(float* out, const float* x, int rows, int columns, cudaStream_t stream) {
    const int threads = 8;
    const dim3 blocks((rows + threads * TILE - 1) / (threads * TILE), (columns + TILE - 1) / TILE);
    transpose_kernel<<<blocks, threads, 0, stream>>>(out, x, rows, columns);
}
