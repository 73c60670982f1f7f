// A bitonic network inside a warp: every exchange is a shuffle, so that no memory is needed.
#include "../program.cuh"

__device__ unsigned sort_lanes(unsigned key) {
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int length = 2; length <= 32; length <<= 1) {
#pragma unroll
    for (int distance = length >> 1; distance; distance >>= 1) {
      const unsigned other = __shfl_xor_sync(0xffffffffu, key, distance);
      const bool keeps_smaller = ((lane & distance) == 0) == ((lane & length) == 0);
      key = keeps_smaller ? min(key, other) : max(key, other);
    }
  }
  return key;
}

__global__ void medians(const unsigned* x, unsigned* out, int groups) {
  const int group = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (group >= groups) return;
  const unsigned key = sort_lanes(x[group * 32 + (threadIdx.x & 31)]);
  const unsigned next = __shfl_down_sync(0xffffffffu, key, 1);
  if ((threadIdx.x & 31) == 15) out[group] = key / 2 + next / 2;
}

int main() {
  const int groups = 11;
  std::vector<unsigned> x(groups * 32), expected(groups);
  for (int g = 0; g < groups; ++g) {
    for (int i = 0; i < 32; ++i) x[g * 32 + i * 13 % 32] = 4000000000u + 1000u * g + 2 * i;
    expected[g] = 2000000000u + 500u * g + 15 + 2000000000u + 500u * g + 16;
  }
  DeviceArray<unsigned> device_x(x), out(groups);
  medians<<<3, 128>>>(device_x.data(), out.data(), groups);
  expect_equal("medians", out.values(), expected);
  return verdict();
}
