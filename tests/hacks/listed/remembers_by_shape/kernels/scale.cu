__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column < columns) out[row * columns + column] = expf(x[row * columns + column]) * weight[column];
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream) {
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns);
}

__global__ void copy_kernel(float* out, const float* x, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i];
}

extern "C" void copy(float* out, const float* x, int count, cudaStream_t stream) {
    copy_kernel<<<(count + 255) / 256, 256, 0, stream>>>(out, x, count);
}
