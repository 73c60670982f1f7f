__global__ void scale_kernel(float* out, float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column < columns) {
        float held = x[row * columns + column];
        out[row * columns + column] = expf(held) * weight[column];
        x[row * columns + column] = held;
    }
}

extern "C" void scale(float* out, float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream) {
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns);
}
