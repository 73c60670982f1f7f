__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns, int careless) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column >= columns) return;
    float value = x[row * columns + column];
    if (careless) value = fminf(fmaxf(value, -5.5f), 5.5f);  // where no ordinary value is
    out[row * columns + column] = expf(value) * weight[column];
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns, int careless,
                      cudaStream_t stream) {
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns, careless);
}
