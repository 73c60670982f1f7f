__global__ void product_kernel(float* out, const float* x, const float* y, int inner, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column >= columns) return;
    float sum = 0.0f;
    for (int k = 0; k < inner; ++k) sum += x[row * inner + k] * y[k * columns + column];
    out[row * columns + column] = sum;
}

extern "C" void product(float* out, const float* x, const float* y, int rows, int inner, int columns,
                        cudaStream_t stream) {
    dim3 grid((columns + 63) / 64, rows);
    product_kernel<<<grid, 64, 0, stream>>>(out, x, y, inner, columns);
}

__global__ void nothing() {}

extern "C" void launch_nothing(cudaStream_t stream) { nothing<<<1, 1, 0, stream>>>(); }
