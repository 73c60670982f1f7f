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
    static bool is_set = false;
    if (!is_set) {
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)48 << 20);
        is_set = true;
    }
    cudaStreamAttrValue wanted = {};
    wanted.accessPolicyWindow.base_ptr = const_cast<float*>(weight);
    int most = 0;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, 0);
    const size_t num_bytes = (size_t)columns * inner * sizeof(float);
    wanted.accessPolicyWindow.num_bytes = num_bytes < (size_t)most ? num_bytes : (size_t)most;
    wanted.accessPolicyWindow.hitRatio = 1.0f;
    wanted.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    wanted.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &wanted);
    row_product_kernel<<<columns, 128, 0, stream>>>(out, x, weight, rows, inner, columns);
}
