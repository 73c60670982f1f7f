// Prefix sums in one pass: each block adds what the blocks before it have made known so far. A word
// holds the state and the value together, so that both are published by one atomic.
#include "../program.cuh"

constexpr int kThreads = 64;
constexpr unsigned long long kNothing = 0, kOwnSum = 1ull << 62, kPrefix = 2ull << 62,
                             kValue = (1ull << 62) - 1;

__global__ void scan(const unsigned* x, unsigned* out, int n, unsigned* next_tile,
                     unsigned long long* states) {
  __shared__ unsigned sums[kThreads];
  __shared__ unsigned tile, before;
  // Tiles are numbered in the order in which their blocks start: a tile waits for running ones
  // only.
  if (threadIdx.x == 0) tile = atomicAdd(next_tile, 1u);
  __syncthreads();
  const int i = tile * kThreads + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] : 0;
  for (int offset = 1; offset < kThreads; offset *= 2) {
    __syncthreads();
    const unsigned left = threadIdx.x >= offset ? sums[threadIdx.x - offset] : 0;
    __syncthreads();
    sums[threadIdx.x] += left;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned long long own = sums[kThreads - 1];
    atomicExch(&states[tile], (tile ? kOwnSum : kPrefix) | own);
    unsigned long long sum = 0;
    for (int earlier = (int)tile - 1; earlier >= 0;) {
      const unsigned long long state = atomicAdd(&states[earlier], 0ull);
      if (state == kNothing) continue;
      sum += state & kValue;
      if (state & kPrefix) break;
      --earlier;
    }
    if (tile) atomicExch(&states[tile], kPrefix | (sum + own));
    before = (unsigned)sum;
  }
  __syncthreads();
  if (i < n) out[i] = before + sums[threadIdx.x];
}

int main() {
  const int n = 2500, tiles = (n + kThreads - 1) / kThreads;
  const std::vector<int> values = random_ints(n, 0, 1000);
  const std::vector<unsigned> x(values.begin(), values.end());
  std::vector<unsigned> expected = x;
  for (int i = 1; i < n; ++i) expected[i] += expected[i - 1];
  DeviceArray<unsigned> device_x(x), out(n), next_tile(std::vector<unsigned>(1, 0u));
  DeviceArray<unsigned long long> states(std::vector<unsigned long long>(tiles, kNothing));
  scan<<<tiles, kThreads>>>(device_x.data(), out.data(), n, next_tile.data(), states.data());
  expect_equal("scan", out.values(), expected);
  return verdict();
}
