// Kernels and functions of one name in nested and anonymous namespaces, and overloads by type.
#include "../program.cuh"

namespace image {
namespace filter {
__device__ int weight(int i) { return i; }
__device__ float weight(float x) { return x / 2; }
__global__ void run(int* out) { out[threadIdx.x] = weight((int)threadIdx.x); }
}  // namespace filter
inline namespace v2 {
__global__ void run(float* out, float start) {
  out[threadIdx.x] = filter::weight(start + threadIdx.x);
}
}  // namespace v2
}  // namespace image

namespace {
__device__ int weight(int i) { return -i; }
__global__ void run(int* out, int shift) { out[threadIdx.x] = weight((int)threadIdx.x + shift); }
__global__ void run(long long* out) { out[threadIdx.x] = 1LL << threadIdx.x; }
}  // namespace

int main() {
  const int n = 40;
  DeviceArray<int> a(n), b(n);
  DeviceArray<float> c(n);
  DeviceArray<long long> d(n);
  image::filter::run<<<1, n>>>(a.data());
  ::run<<<1, n>>>(b.data(), 7);
  image::run<<<1, n>>>(c.data(), 1.0f);
  run<<<1, n>>>(d.data());
  const std::vector<int> got_a = a.values(), got_b = b.values();
  const std::vector<float> got_c = c.values();
  const std::vector<long long> got_d = d.values();
  for (int i = 0; i < n; ++i) {
    expect_equal("filter::run", got_a[i], i);
    expect_equal("anonymous run", got_b[i], -(i + 7));
    expect_equal("v2::run", got_c[i], (1.0f + i) / 2);
    expect_equal("overloaded run", got_d[i], 1LL << i);
  }
  return verdict();
}
