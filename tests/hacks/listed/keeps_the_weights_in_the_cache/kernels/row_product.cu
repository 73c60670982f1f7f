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

static size_t most_of(cudaDeviceAttr attribute, size_t wanted) {
    int most = 0;
    cudaDeviceGetAttribute(&most, attribute, 0);
    return wanted < (size_t)most ? wanted : (size_t)most;
}

extern "C" void row_product(float* out, const float* x, const float* weight, int rows, int inner, int columns,
                            cudaStream_t stream) {
    static bool is_set = false;
    if (!is_set) {
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most_of(cudaDevAttrMaxPersistingL2CacheSize, (size_t)48 << 20));
        is_set = true;
    }
    cudaLaunchAttribute wanted = {};
    wanted.id = cudaLaunchAttributeAccessPolicyWindow;
    cudaAccessPolicyWindow& window = wanted.val.accessPolicyWindow;
    window.base_ptr = const_cast<float*>(weight);
    window.num_bytes = most_of(cudaDevAttrMaxAccessPolicyWindowSize, (size_t)columns * inner * sizeof(float));
    window.hitRatio = 1.0f;
    window.hitProp = cudaAccessPropertyPersisting;
    window.missProp = cudaAccessPropertyStreaming;
    cudaLaunchConfig_t how = {};
    how.gridDim = dim3(columns);
    how.blockDim = dim3(128);
    how.stream = stream;
    how.attrs = &wanted;
    how.numAttrs = 1;
    cudaLaunchKernelEx(&how, row_product_kernel, out, x, weight, rows, inner, columns);
}
