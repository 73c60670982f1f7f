// quantised * scale: one thread a row, so that a scale is read once.
#include <cuda_runtime.h>

__global__ void dequantise_int8_kernel(float* __restrict__ out, const float* __restrict__ scales,
                                       const signed char* __restrict__ quantised, int rows,
                                       int features) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float scale = scales[row];
    const signed char* from = quantised + (size_t)row * features;
    float* to = out + (size_t)row * features;
    for (int i = 0; i < features; ++i) to[i] = (float)from[i] * scale;
}

extern "C" void dequantise_int8(float* out, const float* scales, const signed char* quantised,
                                int rows, int features, cudaStream_t stream) {
    const int threads = 8;
    const int blocks = (rows + threads - 1) / threads;
    dequantise_int8_kernel<<<blocks, threads, 0, stream>>>(out, scales, quantised, rows, features);
}
