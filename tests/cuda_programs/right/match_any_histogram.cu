// A histogram where the lanes of a warp that meet the same key send one atomic for all of them.
#include "../program.cuh"

__global__ void histogram(const int* keys, int n, int* counts, int* num_atomics) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned inside = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  const int key = keys[i];
  const unsigned same = __match_any_sync(inside, key);
  const int leader = __ffs(same) - 1;
  if (threadIdx.x % 32 == leader) {
    atomicAdd(&counts[key], __popc(same));
    atomicAdd(num_atomics, 1);
  }
}

int main() {
  const int n = 1500, bins = 6;
  const std::vector<int> keys = random_ints(n, 0, bins - 1);
  std::vector<int> expected(bins, 0);
  int expected_atomics = 0;
  for (int first = 0; first < n; first += 32) {
    unsigned seen = 0;
    for (int i = first; i < n && i < first + 32; ++i) {
      ++expected[keys[i]];
      expected_atomics += !(seen >> keys[i] & 1);
      seen |= 1u << keys[i];
    }
  }
  DeviceArray<int> device_keys(keys), counts(std::vector<int>(bins, 0)),
      num_atomics(std::vector<int>(1, 0));
  histogram<<<(n + 255) / 256, 256>>>(device_keys.data(), n, counts.data(), num_atomics.data());
  expect_equal("counts", counts.values(), expected);
  expect_equal("atomics", num_atomics.values()[0], expected_atomics);
  return verdict();
}
