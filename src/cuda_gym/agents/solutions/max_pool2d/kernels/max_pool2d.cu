// Max pooling with window 3, stride 2, padding 1: one thread a row of the output, in two steps:
// the larger of three rows of the input, column by column, and the largest of three such columns.
// A window that hangs over the border is clamped to it: what it then sees twice lies inside the
// window anyway, so the maximum is the same and no border has to be stored.
#include <cuda_runtime.h>

constexpr int CHUNK = 16;  // outputs of one step

// The larger one; not a number where either is none. In two steps, each of which a compiler can
// turn into a selection without a branch: a comparison with what is no number selects b.
__device__ __forceinline__ float larger(float a, float b) {
    const float most = a > b ? a : b;
    return a == a ? most : a;
}

// The largest of one column of the three rows.
__device__ __forceinline__ float column(const float* above, const float* middle, const float* below,
                                        int i) {
    return larger(larger(above[i], middle[i]), below[i]);
}

// Outputs first to first + CHUNK - 1, whose windows end inside the row.
__device__ __forceinline__ void whole_chunk(float* __restrict__ to, const float* __restrict__ above,
                                            const float* __restrict__ middle,
                                            const float* __restrict__ below, int first) {
    float columns[2 * CHUNK + 1];
    columns[0] = column(above, middle, below, first > 0 ? 2 * first - 1 : 0);
    for (int i = 0; i < 2 * CHUNK; ++i)
        columns[i + 1] = column(above, middle, below, 2 * first + i);
    for (int i = 0; i < CHUNK; ++i)
        to[first + i] = larger(larger(columns[2 * i], columns[2 * i + 1]), columns[2 * i + 2]);
}

__global__ void max_pool2d_kernel(float* __restrict__ out, const float* __restrict__ x, int planes,
                                  int height, int width) {
    const int out_height = (height + 1) / 2, out_width = (width + 1) / 2;
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= planes * out_height) return;
    const int plane = row / out_height, y = 2 * (row % out_height);
    const float* middle = x + ((size_t)plane * height + y) * width;
    const float* above = y > 0 ? middle - width : middle;
    const float* below = y + 1 < height ? middle + width : middle;
    float* to = out + (size_t)row * out_width;
    int i = 0;
    for (; 2 * (i + CHUNK) <= width; i += CHUNK) whole_chunk(to, above, middle, below, i);
    for (; i < out_width; ++i) {
        const float left = column(above, middle, below, max(2 * i - 1, 0));
        const float centre = column(above, middle, below, 2 * i);
        const float right = column(above, middle, below, min(2 * i + 1, width - 1));
        to[i] = larger(larger(left, centre), right);
    }
}

extern "C" void max_pool2d(float* out, const float* x, int planes, int height, int width,
                           cudaStream_t stream) {
    const int threads = 32;
    const int rows = planes * ((height + 1) / 2);
    max_pool2d_kernel<<<(rows + threads - 1) / threads, threads, 0, stream>>>(out, x, planes, height,
                                                                              width);
}
