// Position of the largest element of each row: one thread a row, with LANES independent maxima and
// their positions, which a compiler can keep in vectors. Of equal ones the first counts; what is no
// number counts as the largest.
#include <cuda_runtime.h>

constexpr int LANES = 32;

// Whether a value beats the best of those before it.
__device__ __forceinline__ bool beats(float value, float best) {
    return !(value <= best) && best == best;
}

__device__ int position_of_largest(const float* __restrict__ row, int columns) {
    float best[LANES];
    int chunk[LANES];
    const int whole = columns / LANES * LANES;
    float most = row[0];
    int position = 0;
    if (whole) {
        for (int lane = 0; lane < LANES; ++lane) best[lane] = row[lane];
        for (int lane = 0; lane < LANES; ++lane) chunk[lane] = 0;
        for (int i = LANES; i < whole; i += LANES)
            for (int lane = 0; lane < LANES; ++lane) {
                const float value = row[i + lane];
                const bool wins = beats(value, best[lane]);
                best[lane] = wins ? value : best[lane];
                chunk[lane] = wins ? i : chunk[lane];
            }
        position = chunk[0];
        most = best[0];
        for (int lane = 1; lane < LANES; ++lane) {
            const int other = chunk[lane] + lane;
            const bool is_tie = !beats(best[lane], most) && !beats(most, best[lane]);
            if (is_tie ? other < position : beats(best[lane], most)) {
                most = best[lane];
                position = other;
            }
        }
    }
    for (int i = whole; i < columns; ++i)
        if (beats(row[i], most)) {
            most = row[i];
            position = i;
        }
    return position;
}

__global__ void argmax_rows_kernel(long long* __restrict__ positions, const float* __restrict__ x,
                                   int rows, int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) positions[row] = position_of_largest(x + (size_t)row * columns, columns);
}

extern "C" void argmax_rows(long long* positions, const float* x, int rows, int columns,
                            cudaStream_t stream) {
    const int threads = 8;
    argmax_rows_kernel<<<(rows + threads - 1) / threads, threads, 0, stream>>>(positions, x, rows,
                                                                               columns);
}
