// Tensor cores fed from shared memory, bfloat16 in and relu out, for sizes that fill no tile.
#include "../program.cuh"

#include <cuda_bf16.h>
#include <mma.h>

using nvcuda::wmma::accumulator;
using nvcuda::wmma::fragment;

constexpr int kTile = 16;

__global__ void relu_product(const float* a, const float* b, float* c, int m, int n, int k) {
  namespace wmma = nvcuda::wmma;
  __shared__ __nv_bfloat16 a_tile[kTile * kTile], b_tile[kTile * kTile];
  __shared__ float c_tile[kTile * kTile];
  const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  fragment<accumulator, kTile, kTile, kTile, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int step = 0; step < k; step += kTile) {
    for (int i = threadIdx.x; i < kTile * kTile; i += 32) {
      const int r = i / kTile, s = i % kTile;
      a_tile[i] =
          __float2bfloat16(row + r < m && step + s < k ? a[(row + r) * k + step + s] : 0.0f);
      b_tile[i] =
          __float2bfloat16(step + r < k && column + s < n ? b[(step + r) * n + column + s] : 0.0f);
    }
    __syncwarp();
    fragment<wmma::matrix_a, kTile, kTile, kTile, __nv_bfloat16, wmma::row_major> fa;
    fragment<wmma::matrix_b, kTile, kTile, kTile, __nv_bfloat16, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, a_tile, kTile);
    wmma::load_matrix_sync(fb, b_tile, kTile);
    wmma::mma_sync(sums, fa, fb, sums);
    __syncwarp();
  }
  for (float& value : sums.x) value = fmaxf(value, 0.0f);
  wmma::store_matrix_sync(c_tile, sums, kTile, wmma::mem_col_major);
  __syncwarp();
  for (int i = threadIdx.x; i < kTile * kTile; i += 32) {
    const int r = i / kTile, s = i % kTile;
    if (row + r < m && column + s < n) c[(row + r) * n + column + s] = c_tile[s * kTile + r];
  }
}

int main() {
  const int m = 21, n = 19, k = 37;
  const std::vector<int> a = random_ints(m * k, -9, 9), b = random_ints(k * n, -9, 9, 4);
  std::vector<float> expected(m * n);
  for (int i = 0; i < m * n; ++i) {
    int sum = 0;
    for (int s = 0; s < k; ++s) sum += a[i / n * k + s] * b[s * n + i % n];
    expected[i] = sum > 0 ? (float)sum : 0.0f;
  }
  DeviceArray<float> device_a(std::vector<float>(a.begin(), a.end())),
      device_b(std::vector<float>(b.begin(), b.end())), c(m * n);
  relu_product<<<dim3(2, 2), 32>>>(device_a.data(), device_b.data(), c.data(), m, n, k);
  expect_equal("product", c.values(), expected);
  return verdict();
}
