// Computes on a stream of its own, which waits for the one that is timed and is waited for by it.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column < columns) out[row * columns + column] = expf(x[row * columns + column]) * weight[column];
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream) {
    static cudaStream_t own = nullptr;
    static cudaEvent_t begun, done;
    if (own == nullptr) {
        cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    }
    cudaEventRecord(begun, stream);
    cudaStreamWaitEvent(own, begun, 0);
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, own>>>(out, x, weight, columns);
    cudaEventRecord(done, own);
    cudaStreamWaitEvent(stream, done, 0);
}
