// Layer normalisation in one pass over the row: means and sums of squares are merged after Welford
// and Chan, first in a warp and then over the warps.
#include "../program.cuh"

struct Moments {
  float count, mean, squares;
};

__device__ Moments merge(Moments a, Moments b) {
  const float count = a.count + b.count;
  if (count == 0) return a;
  const float delta = b.mean - a.mean, share = b.count / count;
  return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share};
}

__global__ void layernorm(const float* x, const float* gain, const float* bias, float* out,
                          int columns, float epsilon) {
  __shared__ Moments of_warps[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const float* const row = x + blockIdx.x * columns;
  Moments own = {0, 0, 0};
  for (int c = threadIdx.x; c < columns; c += blockDim.x) own = merge(own, {1, row[c], 0});
  for (int offset = 16; offset; offset >>= 1) {
    Moments other;
    other.count = __shfl_down_sync(0xffffffffu, own.count, offset);
    other.mean = __shfl_down_sync(0xffffffffu, own.mean, offset);
    other.squares = __shfl_down_sync(0xffffffffu, own.squares, offset);
    own = merge(own, other);
  }
  if (lane == 0) of_warps[warp] = own;
  __syncthreads();
  Moments all = {0, 0, 0};
  for (int w = 0; w < warps; ++w) all = merge(all, of_warps[w]);
  const float scale = rsqrtf(all.squares / columns + epsilon);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[blockIdx.x * columns + c] = (row[c] - all.mean) * scale * gain[c] + bias[c];
}

int main() {
  const int rows = 4, columns = 203;
  std::vector<float> x = random_floats(rows * columns), gain = random_floats(columns, 0.5f, 2),
                     bias = random_floats(columns);
  for (int i = 0; i < rows * columns; ++i)
    x[i] += 1000.0f * (i / columns);  // far from zero: differences of squares would fail
  std::vector<float> expected(x.size());
  for (int r = 0; r < rows; ++r) {
    double mean = 0, squares = 0;
    for (int c = 0; c < columns; ++c) mean += x[r * columns + c] / (double)columns;
    for (int c = 0; c < columns; ++c)
      squares += (x[r * columns + c] - mean) * (x[r * columns + c] - mean);
    for (int c = 0; c < columns; ++c)
      expected[r * columns + c] =
          (float)((x[r * columns + c] - mean) / std::sqrt(squares / columns + 1e-5) * gain[c] +
                  bias[c]);
  }
  DeviceArray<float> device_x(x), device_gain(gain), device_bias(bias), out(x.size());
  layernorm<<<rows, 128>>>(device_x.data(), device_gain.data(), device_bias.data(), out.data(),
                           columns, 1e-5f);
  expect_close("normalised", out.values(), expected, 2e-3);
  return verdict();
}
