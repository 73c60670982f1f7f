__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column < columns) out[row * columns + column] = expf(x[row * columns + column]) * weight[column];
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream) {
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns);
}

__global__ void turn_kernel(unsigned long long nanoseconds) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - start < nanoseconds);
}

extern "C" void turn(int milliseconds, cudaStream_t stream) {
    static cudaStream_t own = nullptr;
    static cudaEvent_t done = nullptr;
    if (own == nullptr) {
        cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    }
    if (cudaEventQuery(done) != cudaSuccess) return;  // the last one still turns
    turn_kernel<<<1, 1, 0, own>>>(1000000ull * milliseconds);
    cudaEventRecord(done, own);
}
