// Polynomials in half precision, two numbers at a time; small integers make every step exact.
#include "../program.cuh"

#include <cuda_fp16.h>

__global__ void polynomial(const __half2* x, __half2* out, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const __half2 three = __float2half2_rn(3.0f),
                minus_two = __halves2half2(__float2half(-2.0f), __float2half(-2.0f));
  __half2 value = __hfma2(three, x[i], minus_two);  // 3 x - 2
  value = __hfma2(value, x[i], __half2(1, 7));      // (3 x - 2) x + (1, 7)
  out[i] = __hgt2(value, __float2half2_rn(50.0f)).x > __half(0) ? __hneg2(value) : value;
}

__global__ void dot(const __half* a, const __half* b, int n, float* out) {
  __half2 sum = __float2half2_rn(0.0f);
  for (int i = threadIdx.x; i < n / 2; i += 32)
    sum = __hfma2(reinterpret_cast<const __half2*>(a)[i], reinterpret_cast<const __half2*>(b)[i],
                  sum);
  float total = __low2float(sum) + __high2float(sum);
  for (int offset = 16; offset; offset /= 2) total += __shfl_xor_sync(0xffffffffu, total, offset);
  if (threadIdx.x == 0) *out = total;
}

int main() {
  const int n = 200;
  const std::vector<int> a = random_ints(n, -6, 6), b = random_ints(n, -6, 6, 3);
  std::vector<__half> half_a(n), half_b(n);
  float expected_dot = 0;
  for (int i = 0; i < n; ++i) {
    half_a[i] = __float2half((float)a[i]);
    half_b[i] = __float2half((float)b[i]);
    expected_dot += (float)(a[i] * b[i]);
  }
  DeviceArray<__half> device_a(half_a), device_b(half_b), out(n);
  DeviceArray<float> product(1);
  polynomial<<<2, 64>>>((const __half2*)device_a.data(), (__half2*)out.data(), n / 2);
  dot<<<1, 32>>>(device_a.data(), device_b.data(), n, product.data());
  const std::vector<__half> got = out.values();
  for (int i = 0; i < n; ++i) {
    const int low = a[i - i % 2], value = (3 * a[i] - 2) * a[i] + (i % 2 ? 7 : 1);
    expect_equal("polynomial", __half2float(got[i]),
                 (float)((3 * low - 2) * low + 1 > 50 ? -value : value));
  }
  expect_equal("dot", product.values()[0], expected_dot);
  return verdict();
}
