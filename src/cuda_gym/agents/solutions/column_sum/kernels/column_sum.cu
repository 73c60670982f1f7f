// Sum of each column in two steps: the rows are cut into parts, in each of which one thread sums a
// piece of the columns, four rows at once, so that memory is read in long runs and the sums are
// fetched and stored once for the four. Then the parts are summed by the same kernel.
#include <cuda_runtime.h>

constexpr int PIECE = 256;

__global__ void sums_of_parts(float* __restrict__ sums, const float* __restrict__ x, int rows,
                              int columns, int part) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * PIECE;
    const int width = min(PIECE, columns - first);
    const int last = min((int)(blockIdx.y + 1) * part, rows);
    float* to = sums + (size_t)blockIdx.y * columns + first;
    for (int i = 0; i < width; ++i) to[i] = 0.0f;
    int row = blockIdx.y * part;
    for (; row + 4 <= last; row += 4) {
        const float* a = x + (size_t)row * columns + first;
        const float* b = a + columns;
        const float* c = b + columns;
        const float* d = c + columns;
        for (int i = 0; i < width; ++i) to[i] += (a[i] + b[i]) + (c[i] + d[i]);
    }
    for (; row < last; ++row)
        for (int i = 0; i < width; ++i) to[i] += x[(size_t)row * columns + first + i];
}

extern "C" void column_sum(float* out, float* partial, const float* x, int rows, int columns,
                           int part, cudaStream_t stream) {
    const int threads = 4;
    const int blocks = (columns + threads * PIECE - 1) / (threads * PIECE);
    const int parts = (rows + part - 1) / part;
    sums_of_parts<<<dim3(blocks, parts), threads, 0, stream>>>(partial, x, rows, columns, part);
    sums_of_parts<<<dim3(blocks, 1), threads, 0, stream>>>(out, partial, parts, columns, parts);
}
