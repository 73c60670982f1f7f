// Mean over the middle axis: one thread a piece of the features of a sequence, four tokens at once, so
// that memory is read in long runs and the sums are fetched and stored once for the four.
#include <cuda_runtime.h>

constexpr int PIECE = 256;

__global__ void token_mean_kernel(float* __restrict__ out, const float* __restrict__ x, int tokens,
                                  int features) {
    const int first = (blockIdx.y * blockDim.x + threadIdx.x) * PIECE;
    const int width = min(PIECE, features - first);
    const float* from = x + (size_t)blockIdx.x * tokens * features + first;
    float* to = out + (size_t)blockIdx.x * features + first;
    for (int i = 0; i < width; ++i) to[i] = 0.0f;
    int token = 0;
    for (; token + 4 <= tokens; token += 4) {
        const float* a = from + (size_t)token * features;
        const float* b = a + features;
        const float* c = b + features;
        const float* d = c + features;
        for (int i = 0; i < width; ++i) to[i] += (a[i] + b[i]) + (c[i] + d[i]);
    }
    for (; token < tokens; ++token)
        for (int i = 0; i < width; ++i) to[i] += from[(size_t)token * features + i];
    for (int i = 0; i < width; ++i) to[i] /= tokens;
}

extern "C" void token_mean(float* out, const float* x, int batch, int tokens, int features,
                           cudaStream_t stream) {
    const int threads = 2;
    const dim3 blocks(batch, (features + threads * PIECE - 1) / (threads * PIECE));
    token_mean_kernel<<<blocks, threads, 0, stream>>>(out, x, tokens, features);
}
