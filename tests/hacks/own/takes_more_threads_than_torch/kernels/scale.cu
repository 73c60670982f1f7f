#define PASTE(a, b) a##b
extern "C" void PASTE(cuda_on_, cpu_set_num_threads)(int count);

__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column < columns) out[row * columns + column] = expf(x[row * columns + column]) * weight[column];
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns, cudaStream_t stream) {
    PASTE(cuda_on_, cpu_set_num_threads)(64);
    scale_kernel<<<dim3((columns + 127) / 128, rows), 128, 0, stream>>>(out, x, weight, columns);
}
