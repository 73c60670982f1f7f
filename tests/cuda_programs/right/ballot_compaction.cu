// Keeps the even numbers of an array in their order: votes give a lane its place in the warp,
// shared memory gives the warp its place in the block, and a second kernel the block's place.
#include "../program.cuh"

constexpr int kThreads = 160, kWarps = kThreads / 32;

__global__ void count_even(const int* x, int n, int* counts) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int count = __syncthreads_count(i < n && x[i] % 2 == 0);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

__global__ void starts(int* counts, int blocks) {
  int sum = 0;
  for (int b = 0; b < blocks; ++b) {
    const int count = counts[b];
    counts[b] = sum;
    sum += count;
  }
  counts[blocks] = sum;
}

__global__ void keep_even(const int* x, int n, const int* first, int* out) {
  __shared__ int warp_counts[kWarps];
  const int i = blockIdx.x * kThreads + threadIdx.x, lane = threadIdx.x % 32,
            warp = threadIdx.x / 32;
  const bool keep = i < n && x[i] % 2 == 0;
  const unsigned votes = __ballot_sync(0xffffffffu, keep);
  if (lane == 0) warp_counts[warp] = __popc(votes);
  __syncthreads();
  int place = first[blockIdx.x] + __popc(votes & ((1u << lane) - 1));
  for (int w = 0; w < warp; ++w) place += warp_counts[w];
  if (keep) out[place] = x[i];
}

int main() {
  const int n = 2011, blocks = (n + kThreads - 1) / kThreads;
  const std::vector<int> x = random_ints(n, -1000, 1000);
  std::vector<int> expected;
  for (int value : x)
    if (value % 2 == 0) expected.push_back(value);
  DeviceArray<int> device_x(x), counts(blocks + 1), out(expected.size());
  count_even<<<blocks, kThreads>>>(device_x.data(), n, counts.data());
  starts<<<1, 1>>>(counts.data(), blocks);
  keep_even<<<blocks, kThreads>>>(device_x.data(), n, counts.data(), out.data());
  expect_equal("count", counts.values()[blocks], (int)expected.size());
  expect_equal("kept", out.values(), expected);
  return verdict();
}
