// matrix @ vector: one thread a row, with LANES independent partial sums that a compiler can keep
// in vectors. The vector stays in the cache, so each row of the matrix is all that is fetched.
#include <cuda_runtime.h>

constexpr int LANES = 64;

__global__ void matvec_kernel(float* __restrict__ out, const float* __restrict__ matrix,
                              const float* __restrict__ vector, int rows, int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* from = matrix + (size_t)row * columns;
    float lanes[LANES] = {};
    int i = 0;
    for (; i + LANES <= columns; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) lanes[lane] += from[i + lane] * vector[i + lane];
    for (; i < columns; ++i) lanes[0] += from[i] * vector[i];
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    out[row] = lanes[0];
}

extern "C" void matvec(float* out, const float* matrix, const float* vector, int rows, int columns,
                       cudaStream_t stream) {
    const int threads = 8;
    const int blocks = (rows + threads - 1) / threads;
    matvec_kernel<<<blocks, threads, 0, stream>>>(out, matrix, vector, rows, columns);
}
