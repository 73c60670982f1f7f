// Loads and stores that say how the data will be used, on scalars and on vectors.
#include "../program.cuh"

__global__ void copy_with_hints(const float4* __restrict__ a, const int* __restrict__ b,
                                const double2* __restrict__ c, float4* out_a, int* out_b,
                                double2* out_c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 first = __ldg(a + i), second = __ldcs(a + (i + 1) % n);
  __stcs(out_a + i, make_float4(first.x, second.y, first.z, second.w));
  __stcg(out_b + i, __ldcg(b + i) + __ldca(b + n - 1 - i));
  const double2 value = __ldg(&c[i]);
  __stwt(out_c + i, make_double2(value.y, value.x));
}

int main() {
  const int n = 130;
  std::vector<float4> a(n);
  std::vector<double2> c(n);
  const std::vector<int> b = random_ints(n, -100, 100);
  for (int i = 0; i < n; ++i) {
    a[i] = make_float4(i, i + 0.25f, i + 0.5f, i + 0.75f);
    c[i] = make_double2(i, -i);
  }
  DeviceArray<float4> device_a(a), out_a(n);
  DeviceArray<int> device_b(b), out_b(n);
  DeviceArray<double2> device_c(c), out_c(n);
  copy_with_hints<<<2, 96>>>(device_a.data(), device_b.data(), device_c.data(), out_a.data(),
                             out_b.data(), out_c.data(), n);
  const std::vector<float4> got_a = out_a.values();
  const std::vector<int> got_b = out_b.values();
  const std::vector<double2> got_c = out_c.values();
  for (int i = 0; i < n; ++i) {
    const int next = (i + 1) % n;
    expect_equal("x", got_a[i].x, (float)i);
    expect_equal("y", got_a[i].y, next + 0.25f);
    expect_equal("z", got_a[i].z, i + 0.5f);
    expect_equal("w", got_a[i].w, next + 0.75f);
    expect_equal("b", got_b[i], b[i] + b[n - 1 - i]);
    expect_equal("c", got_c[i].x * 3 + got_c[i].y, -3.0 * i + i);
  }
  return verdict();
}
