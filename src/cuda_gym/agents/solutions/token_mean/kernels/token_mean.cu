// Mean over the middle axis: one thread sums WIDTH features of a sequence at once, token by token, so
// that it reads whole lines of the cache and a compiler can keep the sums in vectors.
#include <cuda_runtime.h>

constexpr int WIDTH = 64;

__global__ void token_mean_kernel(float* __restrict__ out, const float* __restrict__ x, int tokens,
                                  int features) {
    const int first = (blockIdx.y * blockDim.x + threadIdx.x) * WIDTH;
    const float* from = x + (size_t)blockIdx.x * tokens * features + first;
    float* to = out + (size_t)blockIdx.x * features + first;
    if (first + WIDTH <= features) {
        float sums[WIDTH] = {};
        for (int token = 0; token < tokens; ++token)
            for (int i = 0; i < WIDTH; ++i) sums[i] += from[(size_t)token * features + i];
        for (int i = 0; i < WIDTH; ++i) to[i] = sums[i] / tokens;
    } else {
        for (int i = 0; first + i < features; ++i) {
            float sum = 0.0f;
            for (int token = 0; token < tokens; ++token) sum += from[(size_t)token * features + i];
            to[i] = sum / tokens;
        }
    }
}

extern "C" void token_mean(float* out, const float* x, int batch, int tokens, int features,
                           cudaStream_t stream) {
    const int threads = 4;
    const dim3 blocks(batch, (features + threads * WIDTH - 1) / (threads * WIDTH));
    token_mean_kernel<<<blocks, threads, 0, stream>>>(out, x, tokens, features);
}
