// One step of AdamW in one pass, four loads and three stores an element: one thread a piece of the
// elements, which a compiler can take in vectors.
#include <cuda_runtime.h>

constexpr int PIECE = 256;

struct Rates {
    float moment_kept, moment_taken;
    float square_kept, square_taken;
    float weight_kept, rate, root_scale, eps;
};

__global__ void adamw_step_kernel(float* __restrict__ new_weight, float* __restrict__ new_moment,
                                  float* __restrict__ new_root, const float* __restrict__ weight,
                                  const float* __restrict__ gradient,
                                  const float* __restrict__ moment, const float* __restrict__ root,
                                  long long count, Rates rates) {
    const long long first = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * PIECE;
    const long long last = first + PIECE < count ? first + PIECE : count;
    for (long long i = first; i < last; ++i) {
        const float g = gradient[i], r = root[i];
        const float m = rates.moment_kept * moment[i] + rates.moment_taken * g;
        const float s = sqrtf(rates.square_kept * r * r + rates.square_taken * g * g);
        new_moment[i] = m;
        new_root[i] = s;
        new_weight[i] =
            rates.weight_kept * weight[i] - rates.rate * (m / (s * rates.root_scale + rates.eps));
    }
}

extern "C" void adamw_step(float* new_weight, float* new_moment, float* new_root,
                           const float* weight, const float* gradient, const float* moment,
                           const float* root, long long count, double b1, double b2,
                           float weight_kept, float rate, float root_scale, float eps,
                           cudaStream_t stream) {
    // The differences in double precision: 1 - 0.95f is off in the seventh digit.
    const Rates rates = {(float)b1,   (float)(1.0 - b1), (float)b2,  (float)(1.0 - b2),
                         weight_kept, rate,              root_scale, eps};
    const int threads = 16;
    const int blocks = (int)((count + threads * PIECE - 1) / (threads * PIECE));
    adamw_step_kernel<<<blocks, threads, 0, stream>>>(new_weight, new_moment, new_root, weight,
                                                      gradient, moment, root, count, rates);
}
