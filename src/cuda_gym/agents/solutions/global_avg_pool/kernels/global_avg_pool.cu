// The mean of each plane: one thread a plane, with LANES independent partial sums, so that no
// addition waits for the one before it and a compiler can keep the sums in vectors.
#include <cuda_runtime.h>

constexpr int LANES = 64;

__global__ void global_avg_pool_kernel(float* __restrict__ out, const float* __restrict__ x,
                                       int planes, int pixels) {
    const int plane = blockIdx.x * blockDim.x + threadIdx.x;
    if (plane >= planes) return;
    const float* from = x + (size_t)plane * pixels;
    float lanes[LANES] = {};
    int i = 0;
    for (; i + LANES <= pixels; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) lanes[lane] += from[i + lane];
    for (; i < pixels; ++i) lanes[0] += from[i];
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    out[plane] = lanes[0] / pixels;
}

extern "C" void global_avg_pool(float* out, const float* x, int planes, int pixels,
                                cudaStream_t stream) {
    const int threads = 8;
    const int blocks = (planes + threads - 1) / threads;
    global_avg_pool_kernel<<<blocks, threads, 0, stream>>>(out, x, planes, pixels);
}
