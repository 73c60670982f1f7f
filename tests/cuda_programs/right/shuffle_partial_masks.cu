// Groups of lanes of different sizes reduce at the same time, each with a mask of its own; the
// last warp has 20 lanes only.
#include "../program.cuh"

__device__ int reduce_group(unsigned mask, int first, int size, int value) {
  const int rank = threadIdx.x % 32 - first;
  for (int offset = 16; offset > 0; offset /= 2) {
    const int other = __shfl_down_sync(mask, value, offset);
    if (rank + offset < size) value += other;
  }
  return __shfl_sync(mask, value, first);
}

__global__ void group_sums(const int* x, int* out) {
  const int lane = threadIdx.x % 32;
  const int value = x[threadIdx.x];
  if (lane < 3) {
    out[threadIdx.x] = reduce_group(0x7u, 0, 3, value);
  } else if (lane < 20) {
    out[threadIdx.x] = reduce_group(0xffff8u, 3, 17, value);
  } else {
    const unsigned mask = 0xfff00000u;
    const int doubled = 2 * value;
    out[threadIdx.x] = reduce_group(mask, 20, 12, doubled) + (int)__popc(mask);
  }
}

int main() {
  const int n = 84;
  const std::vector<int> x = random_ints(n, -100, 100);
  std::vector<int> expected(n);
  for (int i = 0; i < n; ++i) {
    const int lane = i % 32, warp = i - lane;
    const int first = lane < 3 ? 0 : lane < 20 ? 3 : 20, end = lane < 3 ? 3 : lane < 20 ? 20 : 32;
    int sum = 0;
    for (int k = warp + first; k < warp + end && k < n; ++k) sum += x[k];
    expected[i] = lane < 20 ? sum : 2 * sum + 12;
  }
  DeviceArray<int> device_x(x), out(n);
  group_sums<<<1, n>>>(device_x.data(), out.data());
  expect_equal("sums", out.values(), expected);
  return verdict();
}
