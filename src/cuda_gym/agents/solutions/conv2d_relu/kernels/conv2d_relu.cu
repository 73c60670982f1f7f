// relu(conv2d(x, weight) + bias), 3 x 3, in two kernels. The first puts zeros around each picture, so
// that the second needs no bounds: there, a thread computes WIDTH pixels of a row in CHANNELS
// channels and keeps them in registers, so that a pixel of x serves all of these channels.
#include <cuda_runtime.h>

constexpr int CHANNELS = 8;
constexpr int WIDTH = 32;

struct Shape {
    int in_channels, out_channels, height, width;
    int padded_width;  // a multiple of WIDTH, and the zeros at both ends
};

__device__ __forceinline__ float relu(float value) { return value < 0.0f ? 0.0f : value; }

__global__ void pad(float* __restrict__ padded, const float* __restrict__ x, int planes, Shape shape) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= planes * (shape.height + 2)) return;
    const int plane = row / (shape.height + 2), y = row % (shape.height + 2) - 1;
    float* to = padded + (size_t)row * shape.padded_width;
    for (int i = 0; i < shape.padded_width; ++i) to[i] = 0.0f;
    if (y < 0 || y >= shape.height) return;
    const float* from = x + ((size_t)plane * shape.height + y) * shape.width;
    for (int i = 0; i < shape.width; ++i) to[i + 1] = from[i];
}

// sums[c] += what one input channel adds to WIDTH pixels of output channel c.
__device__ __forceinline__ void add_channel(float (&sums)[CHANNELS][WIDTH],
                                            const float* __restrict__ padded,
                                            const float* const (&filters)[CHANNELS], size_t offset,
                                            int padded_width) {
    for (int ky = 0; ky < 3; ++ky)
        for (int kx = 0; kx < 3; ++kx) {
            const float* pixels = padded + ky * padded_width + kx;
            for (int c = 0; c < CHANNELS; ++c) {
                const float factor = filters[c][offset + ky * 3 + kx];
                for (int i = 0; i < WIDTH; ++i) sums[c][i] += factor * pixels[i];
            }
        }
}

__global__ void conv2d_relu_kernel(float* __restrict__ out, const float* __restrict__ padded,
                                   const float* __restrict__ weight, const float* __restrict__ bias,
                                   int pieces, Shape shape) {
    const int piece = blockIdx.x * blockDim.x + threadIdx.x;
    if (piece >= pieces) return;
    const int pieces_of_row = (shape.padded_width - 2) / WIDTH;
    const int first = piece % pieces_of_row * WIDTH;
    const int y = piece / pieces_of_row % shape.height;
    const size_t picture = piece / pieces_of_row / shape.height;
    const int channel = blockIdx.y * CHANNELS;
    const int num_channels = min(CHANNELS, shape.out_channels - channel);

    float sums[CHANNELS][WIDTH];
    const float* filters[CHANNELS];
    for (int c = 0; c < CHANNELS; ++c) {
        // Where there are fewer channels, the last is computed again and thrown away.
        const size_t output = channel + min(c, num_channels - 1);
        filters[c] = weight + output * shape.in_channels * 9;
        for (int i = 0; i < WIDTH; ++i) sums[c][i] = bias[output];
    }
    for (int input = 0; input < shape.in_channels; ++input) {
        const size_t line = (picture * shape.in_channels + input) * (shape.height + 2) + y;
        add_channel(sums, padded + line * shape.padded_width + first, filters, (size_t)input * 9,
                    shape.padded_width);
    }
    const int num_pixels = min(WIDTH, shape.width - first);
    for (int c = 0; c < num_channels; ++c) {
        const size_t line = (picture * shape.out_channels + channel + c) * shape.height + y;
        for (int i = 0; i < num_pixels; ++i) out[line * shape.width + first + i] = relu(sums[c][i]);
    }
}

extern "C" void conv2d_relu(float* out, float* padded, const float* x, const float* weight,
                            const float* bias, int batch, int in_channels, int out_channels,
                            int height, int width, int padded_width, cudaStream_t stream) {
    const Shape shape{in_channels, out_channels, height, width, padded_width};
    const int threads = 8;
    const int lines = batch * in_channels * (height + 2);
    pad<<<(lines + threads - 1) / threads, threads, 0, stream>>>(padded, x, batch * in_channels,
                                                                 shape);
    const int pieces = batch * height * ((padded_width - 2) / WIDTH);
    const dim3 blocks((pieces + threads - 1) / threads, (out_channels + CHANNELS - 1) / CHANNELS);
    conv2d_relu_kernel<<<blocks, threads, 0, stream>>>(out, padded, weight, bias, pieces, shape);
}
