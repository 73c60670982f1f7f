// Pixel shuffle: a block writes a piece of one output row. With a factor of 2, which nearly everybody
// uses, a thread reads one element of each of two channels and writes them together.
#include <cuda_runtime.h>

constexpr int MAX_PLANES = 65535;  // that a grid can have in z

__global__ void shuffle_by_two(float2* __restrict__ out, const float* __restrict__ x, int height,
                               int width) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y;
    const size_t channel = ((size_t)blockIdx.z * 2 + y % 2) * 2;
    const float* left = x + (channel * height + y / 2) * width;
    const float* right = left + (size_t)height * width;
    float2* to = out + ((size_t)blockIdx.z * gridDim.y + y) * width;
    if (column < width) to[column] = make_float2(left[column], right[column]);
}

__global__ void shuffle(float* __restrict__ out, const float* __restrict__ x, int height, int width,
                        int factor) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= width) return;
    const int y = blockIdx.y;
    const size_t channel = ((size_t)blockIdx.z * factor + y % factor) * factor;
    const float* from = x + (channel * height + y / factor) * width + column;
    float* to = out + (((size_t)blockIdx.z * gridDim.y + y) * width + column) * factor;
    for (int i = 0; i < factor; ++i) to[i] = from[(size_t)i * height * width];
}

extern "C" void pixel_shuffle(float* out, const float* x, int planes, int height, int width,
                              int factor, cudaStream_t stream) {
    const int threads = 64;
    const size_t pixels = (size_t)height * width * factor * factor;
    for (int first = 0; first < planes; first += MAX_PLANES) {
        const dim3 blocks((width + threads - 1) / threads, height * factor,
                          min(planes - first, MAX_PLANES));
        const float* from = x + first * pixels;
        float* to = out + first * pixels;
        // A vector of two floats must start at a multiple of 8 bytes.
        if (factor == 2 && (size_t)to % 8 == 0)
            shuffle_by_two<<<blocks, threads, 0, stream>>>(reinterpret_cast<float2*>(to), from,
                                                           height, width);
        else
            shuffle<<<blocks, threads, 0, stream>>>(to, from, height, width, factor);
    }
}
