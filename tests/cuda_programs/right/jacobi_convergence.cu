// Jacobi iterations until the largest change is small: the kernel raises it with atomicMax on the
// bits of a positive float.
#include "../program.cuh"

#include <cstring>

__global__ void iterate(const float* now, float* next, int n, unsigned* largest_change) {
  __shared__ unsigned in_block;
  if (threadIdx.x == 0) in_block = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) {
    const float value = 0.5f * (now[i - 1] + now[i + 1]);
    next[i] = value;
    atomicMax(&in_block, __float_as_uint(fabsf(value - now[i])));
  } else if (i < n) {
    next[i] = now[i];
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(largest_change, in_block);
}

int main() {
  const int n = 41;
  std::vector<float> x(n, 0.0f);
  x[n - 1] = 80.0f;
  DeviceArray<float> a(x), b(n);
  DeviceArray<unsigned> change(1);
  float* now = a.data();
  float* next = b.data();
  int iterations = 0;
  for (float largest = 1; largest > 1e-5f && iterations < 20000; iterations += 50) {
    for (int k = 0; k < 50; ++k) {
      CHECK(cudaMemset(change.data(), 0, sizeof(unsigned)));
      iterate<<<2, 32>>>(now, next, n, change.data());
      std::swap(now, next);
    }
    const unsigned bits = change.values()[0];
    std::memcpy(&largest, &bits, sizeof largest);
  }
  expect_equal("converged", iterations < 20000, true);
  CHECK(cudaMemcpy(x.data(), now, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) expect_close("x", i, x[i], 2.0f * i, 2e-2);
  return verdict();
}
