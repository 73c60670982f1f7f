// A matrix product where each thread computes 4 x 4 elements from registers.
#include "../program.cuh"

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM* BN / (TM * TN))
    matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  constexpr int threads = BM * BN / (TM * TN);
  __shared__ float a_tile[BK][BM + 1], b_tile[BK][BN];
  const int row = threadIdx.x / (BN / TN) * TM, column = threadIdx.x % (BN / TN) * TN;
  float sums[TM][TN] = {}, a_part[TM], b_part[TN];
  for (int step = 0; step < k; step += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += threads) {
      const int r = blockIdx.y * BM + i / BK, s = step + i % BK;
      a_tile[i % BK][i / BK] = r < m && s < k ? a[r * k + s] : 0.0f;
    }
    for (int i = threadIdx.x; i < BK * BN; i += threads) {
      const int s = step + i / BN, q = blockIdx.x * BN + i % BN;
      b_tile[i / BN][i % BN] = s < k && q < n ? b[s * n + q] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < BK; ++s) {
      for (int i = 0; i < TM; ++i) a_part[i] = a_tile[s][row + i];
      for (int j = 0; j < TN; ++j) b_part[j] = b_tile[s][column + j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sums[i][j] += a_part[i] * b_part[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) {
      const int r = blockIdx.y * BM + row + i, q = blockIdx.x * BN + column + j;
      if (r < m && q < n) c[r * n + q] = sums[i][j];
    }
}

int main() {
  const int m = 45, n = 70, k = 37;
  const std::vector<int> whole_a = random_ints(m * k, -9, 9),
                         whole_b = random_ints(k * n, -9, 9, 2);
  const std::vector<float> a(whole_a.begin(), whole_a.end()), b(whole_b.begin(), whole_b.end());
  std::vector<float> expected(m * n, 0.0f);
  for (int i = 0; i < m * n; ++i)
    for (int s = 0; s < k; ++s) expected[i] += a[i / n * k + s] * b[s * n + i % n];
  DeviceArray<float> device_a(a), device_b(b), c(m * n);
  matmul<32, 32, 8, 4, 4><<<dim3((n + 31) / 32, (m + 31) / 32), 64>>>(
      device_a.data(), device_b.data(), c.data(), m, n, k);
  expect_equal("product", c.values(), expected);
  return verdict();
}
