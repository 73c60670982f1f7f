__global__ void relu_kernel(float* out, const float* x, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i] < 0.0f ? 0.0f : x[i];
}

extern "C" void relu(float* out, const float* x, int count, cudaStream_t stream) {
    relu_kernel<<<(count + 255) / 256, 256, 0, stream>>>(out, x, count);
}
