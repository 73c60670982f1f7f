// finds: data race in shared memory, lines 12 and 15
// A tiled product waits before a tile is used, but not before the next one overwrites it.
#include "../program.cuh"

constexpr int kTile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < n; first += kTile) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < kTile; ++k)
      sum += a_tile[threadIdx.y][k] * b[(first + k) * n + column];
  }
  c[row * n + column] = sum;
}

int main() {
  const int n = 48;
  DeviceArray<float> a(random_floats(n * n)), b(random_floats(n * n)), c(n * n);
  matmul<<<dim3(3, 3), dim3(kTile, kTile)>>>(a.data(), b.data(), c.data(), n);
  return c.values().size() != n * n;
}
