// relu(x @ weight + bias) by tiles of both in shared memory; what hangs over is filled with zeros.
#include <cuda_runtime.h>

constexpr int TILE = 16;

__global__ void matmul_bias_relu_kernel(float* __restrict__ out, const float* __restrict__ x,
                                        const float* __restrict__ weight,
                                        const float* __restrict__ bias, int rows, int inner,
                                        int columns) {
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    const int column = blockIdx.x * TILE + threadIdx.x;
    const int row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;
    for (int first = 0; first < inner; first += TILE) {
        const int k = first + threadIdx.x;
        const int line = first + threadIdx.y;
        left[threadIdx.y][threadIdx.x] =
            row < rows && k < inner ? x[(size_t)row * inner + k] : 0.0f;
        right[threadIdx.y][threadIdx.x] =
            line < inner && column < columns ? weight[(size_t)line * columns + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns)
        out[(size_t)row * columns + column] = fmaxf(sum + bias[column], 0.0f);
}

extern "C" void matmul_bias_relu(float* out, const float* x, const float* weight, const float* bias,
                                 int rows, int inner, int columns, cudaStream_t stream) {
    const dim3 blocks((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    matmul_bias_relu_kernel<<<blocks, dim3(TILE, TILE), 0, stream>>>(out, x, weight, bias, rows,
                                                                     inner, columns);
}
