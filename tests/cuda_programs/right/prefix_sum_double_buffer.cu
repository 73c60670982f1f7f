// Inclusive prefix maxima after Hillis and Steele: two buffers take turns, so that one barrier a
// step is enough.
#include "../program.cuh"

__global__ void running_maximum(const float* x, float* out, int n) {
  extern __shared__ float buffers[];
  float* from = buffers;
  float* to = buffers + blockDim.x;
  const int t = threadIdx.x;
  from[t] = t < n ? x[t] : -INFINITY;
  __syncthreads();
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    to[t] = t >= distance ? fmaxf(from[t], from[t - distance]) : from[t];
    __syncthreads();
    float* const other = from;
    from = to;
    to = other;
  }
  if (t < n) out[t] = from[t];
}

int main() {
  for (int n : {1, 33, 200, 1024}) {
    const std::vector<float> x = random_floats(n, -100, 100, n);
    DeviceArray<float> device_x(x), out(n);
    running_maximum<<<1, n, 2 * n * sizeof(float)>>>(device_x.data(), out.data(), n);
    std::vector<float> expected = x;
    for (int i = 1; i < n; ++i) expected[i] = std::fmax(expected[i - 1], x[i]);
    expect_equal("maximum", out.values(), expected);
  }
  return verdict();
}
