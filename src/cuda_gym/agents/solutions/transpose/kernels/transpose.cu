// Transpose by tiles of 16 x 16: a row of a tile is 64 bytes, one line of the cache, so each line
// is fetched once and written while it is near. One thread moves one tile, in parts of 4 x 4, which
// are read and written as vectors of four floats and turned in registers.
#include <cuda_runtime.h>

constexpr int TILE = 16;

__device__ __forceinline__ float4 load4(const float* from) {
    return *reinterpret_cast<const float4*>(from);
}

__device__ __forceinline__ void store4(float* to, float a, float b, float c, float d) {
    *reinterpret_cast<float4*>(to) = make_float4(a, b, c, d);
}

__device__ void move_whole_tile(float* __restrict__ to, const float* __restrict__ from, size_t rows,
                                size_t columns) {
    for (int r = 0; r < TILE; r += 4)
        for (int c = 0; c < TILE; c += 4) {
            const float* corner = from + r * columns + c;
            const float4 v0 = load4(corner), v1 = load4(corner + columns);
            const float4 v2 = load4(corner + 2 * columns), v3 = load4(corner + 3 * columns);
            float* turned = to + c * rows + r;
            store4(turned, v0.x, v1.x, v2.x, v3.x);
            store4(turned + rows, v0.y, v1.y, v2.y, v3.y);
            store4(turned + 2 * rows, v0.z, v1.z, v2.z, v3.z);
            store4(turned + 3 * rows, v0.w, v1.w, v2.w, v3.w);
        }
}

__global__ void transpose_kernel(float* __restrict__ out, const float* __restrict__ x, int rows,
                                 int columns, bool is_aligned) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) * TILE;
    const int column = blockIdx.y * TILE;
    const int height = min(TILE, rows - row);
    const int width = min(TILE, columns - column);
    const float* from = x + (size_t)row * columns + column;
    float* to = out + (size_t)column * rows + row;
    if (is_aligned && height == TILE && width == TILE) {
        move_whole_tile(to, from, rows, columns);
    } else {
        for (int c = 0; c < width; ++c)
            for (int r = 0; r < height; ++r) to[(size_t)c * rows + r] = from[(size_t)r * columns + c];
    }
}

extern "C" void transpose(float* out, const float* x, int rows, int columns, cudaStream_t stream) {
    const int threads = 8;
    const dim3 blocks((rows + threads * TILE - 1) / (threads * TILE), (columns + TILE - 1) / TILE);
    // A vector of four floats must start at a multiple of 16 bytes, in every row.
    const bool is_aligned =
        rows % 4 == 0 && columns % 4 == 0 && (size_t)x % 16 == 0 && (size_t)out % 16 == 0;
    transpose_kernel<<<blocks, threads, 0, stream>>>(out, x, rows, columns, is_aligned);
}
