__global__ void count_kernel(long long* places, long long* starts, int rows, int inner) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * inner) places[i] = i % inner;
    if (i < rows) starts[i] = (long long)i * inner;
}

__global__ void copy_kernel(float* out, const float* x, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i];
}

extern "C" void count(long long* places, long long* starts, int rows, int inner, cudaStream_t stream) {
    count_kernel<<<(rows * inner + 255) / 256, 256, 0, stream>>>(places, starts, rows, inner);
}

extern "C" void copy(float* out, const float* x, int count, cudaStream_t stream) {
    copy_kernel<<<(count + 255) / 256, 256, 0, stream>>>(out, x, count);
}
