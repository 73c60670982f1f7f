// x / max(sqrt(sum(x^2)), eps): one thread a row, which it reads twice, the second time from the
// cache.
#include <cuda_runtime.h>

constexpr int LANES = 32;  // independent partial sums, which a compiler can keep in vectors

__device__ float sum_of_squares(const float* __restrict__ x, int count) {
    float lanes[LANES] = {};
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) lanes[lane] += x[i + lane] * x[i + lane];
    for (; i < count; ++i) lanes[0] += x[i] * x[i];
    for (int lane = 1; lane < LANES; ++lane) lanes[0] += lanes[lane];
    return lanes[0];
}

__global__ void l2_normalise_kernel(float* __restrict__ out, const float* __restrict__ x, int rows,
                                    int columns, float eps) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* from = x + (size_t)row * columns;
    float* to = out + (size_t)row * columns;
    const float length = sqrtf(sum_of_squares(from, columns));
    const float scale = 1.0f / (length < eps ? eps : length);  // fmaxf would lose what is no number
    for (int i = 0; i < columns; ++i) to[i] = from[i] * scale;
}

extern "C" void l2_normalise(float* out, const float* x, int rows, int columns, float eps,
                             cudaStream_t stream) {
    const int threads = 8;
    l2_normalise_kernel<<<(rows + threads - 1) / threads, threads, 0, stream>>>(out, x, rows, columns,
                                                                                eps);
}
