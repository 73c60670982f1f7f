__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column < columns) out[row * columns + column] = x[row * columns + column] * weight[column];
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream) {
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns);
}
