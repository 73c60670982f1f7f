__global__ void copy_kernel(float* out, const float* x, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i];
}

extern "C" void copy(float* out, const float* x, int count, cudaStream_t stream) {
    copy_kernel<<<(count + 255) / 256, 256, 0, stream>>>(out, x, count);
}
