// What CUDA has no atomic for, from atomicCAS: the largest double, a product, a saturating byte.
#include "../program.cuh"

__device__ double atomic_max(double* address, double value) {
  auto* const bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = atomicAdd(bits, 0ull);
  while (value > __longlong_as_double((long long)old)) {
    const unsigned long long seen =
        atomicCAS(bits, old, (unsigned long long)__double_as_longlong(value));
    if (seen == old) break;
    old = seen;
  }
  return __longlong_as_double((long long)old);
}

__device__ void atomic_multiply(float* address, float factor) {
  int* const bits = reinterpret_cast<int*>(address);
  int old = atomicAdd(bits, 0), assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(__int_as_float(assumed) * factor));
  } while (assumed != old);
}

// Adds to one of the four bytes of a word, and stops at 255.
__device__ void atomic_add_byte(unsigned* word, int byte, unsigned amount) {
  unsigned old = atomicAdd(word, 0u), assumed;
  do {
    assumed = old;
    const unsigned sum = min((assumed >> (8 * byte) & 0xffu) + amount, 255u);
    old = atomicCAS(word, assumed, (assumed & ~(0xffu << (8 * byte))) | sum << (8 * byte));
  } while (assumed != old);
}

__global__ void accumulate(const double* x, int n, double* largest, float* product,
                           unsigned* bytes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomic_max(largest, x[i]);
  atomic_multiply(product, i % 2 ? 2.0f : 0.5f);
  atomic_add_byte(bytes, i % 4, i % 4 ? 1u : 7u);
}

int main() {
  const int n = 500;
  std::vector<double> x(n);
  for (int i = 0; i < n; ++i) x[i] = std::sin(i * 0.7) * 100;
  DeviceArray<double> device_x(x), largest(std::vector<double>(1, -1e300));
  DeviceArray<float> product(std::vector<float>(1, 3.0f));
  DeviceArray<unsigned> bytes(std::vector<unsigned>(1, 0u));
  accumulate<<<4, 128>>>(device_x.data(), n, largest.data(), product.data(), bytes.data());
  double expected = x[0];
  for (double value : x) expected = value > expected ? value : expected;
  expect_equal("largest", largest.values()[0], expected);
  expect_equal("product", product.values()[0], 3.0f);
  expect_equal("bytes", bytes.values()[0], 0x7d7d7dffu);
  return verdict();
}
