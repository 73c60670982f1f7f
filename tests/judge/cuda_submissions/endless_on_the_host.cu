// A launcher that waits for a kernel that never ends.
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    while (clock64() != -1) __nanosleep(1000);
    out[0] = x[0] * weight[0] * columns;
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream) {
    scale_kernel<<<rows, 128, 0, stream>>>(out, x, weight, columns);
    cudaStreamSynchronize(stream);
}
