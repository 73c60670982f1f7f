// Asks for more shared memory than a block can have.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = x[threadIdx.x];
    out[threadIdx.x] = tile[threadIdx.x] * weight[0] * columns;
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream) {
    scale_kernel<<<rows, 128, 300 * 1024, stream>>>(out, x, weight, columns);
}
