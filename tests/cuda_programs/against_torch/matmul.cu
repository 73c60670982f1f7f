// Products of matrices by tiles in shared memory: single ones, batches, and half with float sums.
#include <cuda_fp16.h>

constexpr int kTile = 16;

template <class T>
__global__ void matmul_kernel(const T* a, const T* b, T* c, int m, int n, int k,
                              bool b_is_transposed) {
  __shared__ float a_tile[kTile][kTile + 1], b_tile[kTile][kTile + 1];
  a += (size_t)blockIdx.z * m * k;
  b += (size_t)blockIdx.z * n * k;
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    const int ka = first + threadIdx.x, kb = first + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < m && ka < k ? (float)a[row * k + ka] : 0.0f;
    b_tile[threadIdx.y][threadIdx.x] =
        kb < k && column < n ? (float)b[b_is_transposed ? column * k + kb : kb * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum = fmaf(a_tile[threadIdx.y][i], b_tile[i][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < m && column < n) c[((size_t)blockIdx.z * m + row) * n + column] = (T)sum;
}

template <class T>
void launch(const T* a, const T* b, T* c, int batches, int m, int n, int k, bool b_is_transposed) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile, batches);
  matmul_kernel<T><<<grid, dim3(kTile, kTile)>>>(a, b, c, m, n, k, b_is_transposed);
}

extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  launch(a, b, c, 1, m, n, k, false);
}
extern "C" void matmul_half(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  launch(a, b, c, 1, m, n, k, false);
}
extern "C" void bmm_transposed(const float* a, const float* b, float* c, int batches, int m, int n,
                               int k) {
  launch(a, b, c, batches, m, n, k, true);
}
