// Writes where there is no memory.
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    out[((size_t)1 << 40) + threadIdx.x] = x[0] * weight[0] * columns;
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream) {
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, weight, columns);
}
