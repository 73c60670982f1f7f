// A matrix product on tensor cores: every warp computes a tile of 16 x 16 of alpha A B + beta C.
#include "../program.cuh"

#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 16;

__global__ void gemm(const half* a, const half* b, float* c, int m, int n, int k, float alpha,
                     float beta) {
  const int row = blockIdx.y * kTile, column = (blockIdx.x * blockDim.y + threadIdx.y) * kTile;
  if (column >= n) return;  // the same for all lanes of a warp
  wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, half, wmma::row_major> a_tile;
  wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, half, wmma::col_major> b_tile;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sums, old;
  wmma::fill_fragment(sums, 0.0f);
  for (int step = 0; step < k; step += kTile) {
    wmma::load_matrix_sync(a_tile, a + row * k + step, k);
    wmma::load_matrix_sync(b_tile, b + column * k + step, k);
    wmma::mma_sync(sums, a_tile, b_tile, sums);
  }
  wmma::load_matrix_sync(old, c + row * n + column, n, wmma::mem_row_major);
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = alpha * sums.x[i] + beta * old.x[i];
  wmma::store_matrix_sync(c + row * n + column, sums, n, wmma::mem_row_major);
}

int main() {
  const int m = 32, n = 48, k = 64;
  const std::vector<int> a = random_ints(m * k, -8, 8), b = random_ints(n * k, -8, 8, 5),
                         c = random_ints(m * n, -8, 8, 6);
  std::vector<half> half_a(m * k), half_b(n * k);
  for (int i = 0; i < m * k; ++i) half_a[i] = __float2half((float)a[i]);
  for (int i = 0; i < n * k; ++i) half_b[i] = __float2half((float)b[i]);  // B by columns
  std::vector<float> expected(m * n);
  for (int r = 0; r < m; ++r)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int i = 0; i < k; ++i) sum += a[r * k + i] * b[j * k + i];
      expected[r * n + j] = 0.5f * sum + 2.0f * c[r * n + j];
    }
  DeviceArray<half> device_a(half_a), device_b(half_b);
  DeviceArray<float> device_c(std::vector<float>(c.begin(), c.end()));
  gemm<<<dim3(2, m / kTile), dim3(32, 2)>>>(device_a.data(), device_b.data(), device_c.data(), m, n,
                                            k, 0.5f, 2.0f);
  expect_equal("product", device_c.values(), expected);
  return verdict();
}
