// log(sum(exp(s))) - sum(exp(t) s) / sum(exp(t)), with s and t as a row of the student's and the
// teacher's logits, less their maxima: one thread a row, nothing written but the loss. Maxima and
// sums are kept in LANES independent parts, which a compiler can keep in vectors.
#include <cuda_runtime.h>

constexpr int LANES = 16;

__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }

// exp(x) for x <= 0, half the work of expf: it cannot overflow, and below -87 it stops at 1e-38.
// exp(x) = 2^k exp(r), with k the integer nearest to x / ln 2 and r in [-0.35, 0.35]; adding
// 1.5 * 2^23 rounds to an integer and leaves k in the low bits, ready to become an exponent.
__device__ __forceinline__ float exp_of_negative(float x) {
    const float shifter = 12582912.0f;
    x = x < -87.0f ? -87.0f : x;
    const float shifted = fmaf(x, 1.442695041f, shifter);
    const float k = shifted - shifter;
    const float r = fmaf(k, 1.428606820e-6f, fmaf(k, -0.693148613f, x));
    float p = fmaf(r, 1.388888889e-3f, 8.333333333e-3f);
    p = fmaf(p, r, 4.166666667e-2f);
    p = fmaf(p, r, 1.666666667e-1f);
    p = fmaf(p, r, 0.5f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    return __int_as_float(__float_as_int(p) + (__float_as_int(shifted) << 23));
}

__device__ float row_maximum(const float* __restrict__ row, int columns) {
    float lanes[LANES];
    for (int lane = 0; lane < LANES; ++lane) lanes[lane] = row[0];
    int i = 0;
    for (; i + LANES <= columns; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) lanes[lane] = larger(row[i + lane], lanes[lane]);
    for (; i < columns; ++i) lanes[0] = larger(row[i], lanes[0]);
    for (int lane = 1; lane < LANES; ++lane) lanes[0] = larger(lanes[lane], lanes[0]);
    return lanes[0];
}

__device__ float loss_of_row(const float* __restrict__ student, const float* __restrict__ teacher,
                             int classes) {
    const float most = row_maximum(student, classes), teacher_most = row_maximum(teacher, classes);
    float sums[LANES] = {}, teacher_sums[LANES] = {}, products[LANES] = {};
    int i = 0;
    for (; i + LANES <= classes; i += LANES)
        for (int lane = 0; lane < LANES; ++lane) {
            const float s = student[i + lane] - most;
            const float e = exp_of_negative(teacher[i + lane] - teacher_most);
            sums[lane] += exp_of_negative(s);
            teacher_sums[lane] += e;
            products[lane] += e * s;
        }
    for (; i < classes; ++i) {
        const float e = exp_of_negative(teacher[i] - teacher_most);
        sums[0] += exp_of_negative(student[i] - most);
        teacher_sums[0] += e;
        products[0] += e * (student[i] - most);
    }
    for (int lane = 1; lane < LANES; ++lane) {
        sums[0] += sums[lane];
        teacher_sums[0] += teacher_sums[lane];
        products[0] += products[lane];
    }
    return logf(sums[0]) - products[0] / teacher_sums[0];
}

__global__ void soft_cross_entropy_kernel(float* __restrict__ losses,
                                          const float* __restrict__ student,
                                          const float* __restrict__ teacher, int rows,
                                          int classes) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const size_t start = (size_t)row * classes;
    losses[row] = loss_of_row(student + start, teacher + start, classes);
}

extern "C" void soft_cross_entropy(float* losses, const float* student, const float* teacher,
                                   int rows, int classes, cudaStream_t stream) {
    const int threads = 8;
    soft_cross_entropy_kernel<<<(rows + threads - 1) / threads, threads, 0, stream>>>(
        losses, student, teacher, rows, classes);
}
