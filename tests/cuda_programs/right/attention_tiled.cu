// Attention with a causal mask, without ever storing the scores: keys and values come in tiles, and
// what has been summed is rescaled whenever a larger score appears.
#include "../program.cuh"

constexpr int kDim = 16, kTile = 32;

__global__ void attention(const float* q, const float* k, const float* v, float* out, int length,
                          float scale) {
  __shared__ float keys[kTile][kDim + 1], values[kTile][kDim];
  const int row = blockIdx.x * kTile + threadIdx.x, head = blockIdx.y * length * kDim;
  float query[kDim], sums[kDim] = {}, largest = -INFINITY, total = 0;
  for (int d = 0; d < kDim; ++d) query[d] = row < length ? scale * q[head + row * kDim + d] : 0;
  for (int first = 0; first <= blockIdx.x * kTile; first += kTile) {
    for (int i = threadIdx.x; i < kTile * kDim; i += kTile) {
      const bool inside = first + i / kDim < length;
      keys[i / kDim][i % kDim] = inside ? k[head + first * kDim + i] : 0;
      values[i / kDim][i % kDim] = inside ? v[head + first * kDim + i] : 0;
    }
    __syncthreads();
    for (int j = 0; j < kTile && first + j <= row && row < length; ++j) {
      float score = 0;
      for (int d = 0; d < kDim; ++d) score = fmaf(query[d], keys[j][d], score);
      const float now = fmaxf(largest, score), rescale = expf(largest - now),
                  weight = expf(score - now);
      for (int d = 0; d < kDim; ++d) sums[d] = sums[d] * rescale + weight * values[j][d];
      total = total * rescale + weight;
      largest = now;
    }
    __syncthreads();
  }
  if (row >= length) return;
  for (int d = 0; d < kDim; ++d) out[head + row * kDim + d] = sums[d] / total;
}

int main() {
  const int length = 75, heads = 2, n = heads * length * kDim;
  const float scale = 0.25f;
  const std::vector<float> q = random_floats(n, -3, 3), k = random_floats(n, -3, 3, 2),
                           v = random_floats(n, -1, 1, 3);
  std::vector<float> expected(n);
  for (int h = 0; h < heads; ++h)
    for (int r = 0; r < length; ++r) {
      std::vector<double> sums(kDim, 0.0);
      double total = 0;
      for (int j = 0; j <= r; ++j) {
        double score = 0;
        for (int d = 0; d < kDim; ++d)
          score += (double)scale * q[(h * length + r) * kDim + d] * k[(h * length + j) * kDim + d];
        total += std::exp(score);
        for (int d = 0; d < kDim; ++d) sums[d] += std::exp(score) * v[(h * length + j) * kDim + d];
      }
      for (int d = 0; d < kDim; ++d)
        expected[(h * length + r) * kDim + d] = (float)(sums[d] / total);
    }
  DeviceArray<float> device_q(q), device_k(k), device_v(v), out(n);
  attention<<<dim3((length + kTile - 1) / kTile, heads), kTile>>>(
      device_q.data(), device_k.data(), device_v.data(), out.data(), length, scale);
  expect_close("attention", out.values(), expected, 1e-4);
  return verdict();
}
