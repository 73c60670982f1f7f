__global__ void decoy_kernel(float* out, int count) {
    if (count < 0) out[0] = 0.0f;
}

extern "C" void decoy(float* out, int count, cudaStream_t stream) {
    decoy_kernel<<<1, 1, 0, stream>>>(out, count);
}
