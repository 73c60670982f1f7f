// weight * (x - mean) / sqrt(variance + eps) + bias in float16, all sums in float: one thread a row.
// The row is taken in chunks, each widened once. The squares of a chunk are summed about its own mean
// and moved to the mean of all, so that a mean far from zero costs no digits.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int CHUNK = 256;
constexpr int LANES = 32;  // independent partial sums, which a compiler can keep in vectors

struct Moments {
    float count, mean, squares;  // squares of the differences from the mean
};

__device__ __forceinline__ float sum_of(const float* lanes) {
    float sum = 0.0f;
    for (int lane = 0; lane < LANES; ++lane) sum += lanes[lane];
    return sum;
}

__device__ __forceinline__ Moments whole_chunk(const __half* __restrict__ x) {
    float values[CHUNK];
    float sums[LANES] = {}, squares[LANES] = {};
    for (int i = 0; i < CHUNK; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) {
            values[i + lane] = __half2float(x[i + lane]);
            sums[lane] += values[i + lane];
        }
    const float mean = sum_of(sums) / CHUNK;
    for (int i = 0; i < CHUNK; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) {
            const float difference = values[i + lane] - mean;
            squares[lane] += difference * difference;
        }
    return {(float)CHUNK, mean, sum_of(squares)};
}

__device__ __forceinline__ Moments part_of_chunk(const __half* __restrict__ x, int count) {
    float sum = 0.0f, squares = 0.0f;
    for (int i = 0; i < count; ++i) sum += __half2float(x[i]);
    const float mean = sum / count;
    for (int i = 0; i < count; ++i) {
        const float difference = __half2float(x[i]) - mean;
        squares += difference * difference;
    }
    return {(float)count, mean, squares};
}

__device__ __forceinline__ Moments together(Moments a, Moments b) {
    const float count = a.count + b.count;
    const float share = b.count / count, distance = b.mean - a.mean;
    return {count, a.mean + distance * share,
            a.squares + b.squares + distance * distance * a.count * share};
}

__global__ void half_layer_norm_kernel(__half* __restrict__ out, const __half* __restrict__ x,
                                       const __half* __restrict__ weight,
                                       const __half* __restrict__ bias, int rows, int features,
                                       float eps) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const __half* from = x + (size_t)row * features;
    __half* to = out + (size_t)row * features;
    Moments moments{};
    int i = 0;
    for (; i + CHUNK <= features; i += CHUNK) moments = together(moments, whole_chunk(from + i));
    if (i < features) moments = together(moments, part_of_chunk(from + i, features - i));
    const float mean = moments.mean;
    const float scale = 1.0f / sqrtf(moments.squares / features + eps);
    for (int f = 0; f < features; ++f) {
        const float normalised = (__half2float(from[f]) - mean) * scale;
        to[f] = __float2half(normalised * __half2float(weight[f]) + __half2float(bias[f]));
    }
}

extern "C" void half_layer_norm(__half* out, const __half* x, const __half* weight,
                                const __half* bias, int rows, int features, float eps,
                                cudaStream_t stream) {
    const int threads = 8;
    half_layer_norm_kernel<<<(rows + threads - 1) / threads, threads, 0, stream>>>(
        out, x, weight, bias, rows, features, eps);
}
