__global__ void row_product_kernel(float* out, const float* x, const float* weight, int rows, int inner,
                                   int columns) {
    __shared__ float sums[128];
    int column = blockIdx.x;
    for (int row = 0; row < rows; ++row) {
        float sum = 0.0f;
        for (int k = threadIdx.x; k < inner; k += 128) sum += x[row * inner + k] * weight[(size_t)column * inner + k];
        sums[threadIdx.x] = sum;
        __syncthreads();
        for (int half = 64; half > 0; half /= 2) {
            if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) out[row * columns + column] = sums[0];
        __syncthreads();
    }
}

extern "C" void row_product(float* out, const float* x, const float* weight, int rows, int inner, int columns,
                            cudaStream_t stream) {
    row_product_kernel<<<columns, 128, 0, stream>>>(out, x, weight, rows, inner, columns);
}
