__device__ float kept[1 << 16];

__global__ void relu_kernel(float* out, const float* x, int count, bool first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    if (first) kept[i] = x[i] < 0.0f ? 0.0f : x[i];
    out[i] = kept[i];
}

extern "C" void relu(float* out, const float* x, int count, cudaStream_t stream) {
    static int known = 0;
    relu_kernel<<<(count + 255) / 256, 256, 0, stream>>>(out, x, count, known != count);
    known = count;
}
