// Declares more shared memory than a block can have.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    __shared__ float tile[100000];
    tile[threadIdx.x * columns] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + columns] * weight[0];
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream) {
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, weight, columns);
}
