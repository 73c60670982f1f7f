// 3 x 3 convolution of each channel with its own filter, zeros around: one thread a row of the
// output. Pixels that have both neighbours are computed CHUNK at a time, which a compiler can keep
// in vectors; the last chunk overlaps the one before it.
#include <cuda_runtime.h>

constexpr int CHUNK = 32;

// One pixel from rows FIRST to LAST of the filter: those that meet the picture.
template <int FIRST, int LAST>
__device__ __forceinline__ float one_pixel(const float* __restrict__ middle,
                                           const float* __restrict__ filter, int x, int width) {
    float sum = 0.0f;
    for (int ky = FIRST; ky <= LAST; ++ky) {
        const float* row = middle + (ky - 1) * width;
        if (x > 0) sum += row[x - 1] * filter[ky * 3];
        sum += row[x] * filter[ky * 3 + 1];
        if (x + 1 < width) sum += row[x + 1] * filter[ky * 3 + 2];
    }
    return sum;
}

template <int FIRST, int LAST>
__device__ __forceinline__ void whole_chunk(float* __restrict__ to, const float* __restrict__ middle,
                                            const float* __restrict__ filter, int width) {
    float sums[CHUNK] = {};
    for (int ky = FIRST; ky <= LAST; ++ky)
        for (int kx = 0; kx < 3; ++kx) {
            const float* from = middle + (ky - 1) * width + kx - 1;
            for (int i = 0; i < CHUNK; ++i) sums[i] += from[i] * filter[ky * 3 + kx];
        }
    for (int i = 0; i < CHUNK; ++i) to[i] = sums[i];
}

template <int FIRST, int LAST>
__device__ __forceinline__ void whole_row(float* __restrict__ to, const float* __restrict__ middle,
                                          const float* __restrict__ filter, int width) {
    const int last_chunk = width - 1 - CHUNK;
    if (last_chunk < 1) {
        for (int x = 0; x < width; ++x) to[x] = one_pixel<FIRST, LAST>(middle, filter, x, width);
        return;
    }
    to[0] = one_pixel<FIRST, LAST>(middle, filter, 0, width);
    for (int x = 1; x < last_chunk; x += CHUNK)
        whole_chunk<FIRST, LAST>(to + x, middle + x, filter, width);
    whole_chunk<FIRST, LAST>(to + last_chunk, middle + last_chunk, filter, width);
    to[width - 1] = one_pixel<FIRST, LAST>(middle, filter, width - 1, width);
}

__global__ void depthwise_conv3x3_kernel(float* __restrict__ out, const float* __restrict__ x,
                                         const float* __restrict__ weight, int planes, int channels,
                                         int height, int width) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= planes * height) return;
    const int plane = row / height, y = row % height;
    const float* middle = x + (size_t)row * width;
    const float* filter = weight + (plane % channels) * 9;
    float* to = out + (size_t)row * width;
    if (y > 0 && y + 1 < height)
        whole_row<0, 2>(to, middle, filter, width);
    else if (y > 0)
        whole_row<0, 1>(to, middle, filter, width);
    else if (y + 1 < height)
        whole_row<1, 2>(to, middle, filter, width);
    else
        whole_row<1, 1>(to, middle, filter, width);
}

extern "C" void depthwise_conv3x3(float* out, const float* x, const float* weight, int batch,
                                  int channels, int height, int width, cudaStream_t stream) {
    const int threads = 32;
    const int planes = batch * channels;
    const int blocks = (planes * height + threads - 1) / threads;
    depthwise_conv3x3_kernel<<<blocks, threads, 0, stream>>>(out, x, weight, planes, channels,
                                                             height, width);
}
