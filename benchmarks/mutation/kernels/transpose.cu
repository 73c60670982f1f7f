// Transpose by tiles in shared memory, so that rows are both read and written in long runs.
#include <cuda_runtime.h>

constexpr int TILE = 16;

__global__ void transpose_kernel(float* __restrict__ out, const float* __restrict__ x, int rows,
                                 int columns) {
    __shared__ float tile[TILE][TILE + 1];
    const int column = blockIdx.x * TILE + threadIdx.x;
    const int row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && column < columns)
        tile[threadIdx.y][threadIdx.x] = x[(size_t)row * columns + column];
    __syncthreads();
    const int to_column = blockIdx.y * TILE + threadIdx.x;
    const int to_row = blockIdx.x * TILE + threadIdx.y;
    if (to_row < columns && to_column < rows)
        out[(size_t)to_row * rows + to_column] = tile[threadIdx.x][threadIdx.y];
}

extern "C" void transpose(float* out, const float* x, int rows, int columns, cudaStream_t stream) {
    const dim3 blocks((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_kernel<<<blocks, dim3(TILE, TILE), 0, stream>>>(out, x, rows, columns);
}
