// Each block keeps its own numbers that are above the block's threshold, in their old order: the
// barrier itself counts them, and tells whether all or any of them are.
#include "../program.cuh"

constexpr int kThreads = 96;

__global__ void count_above(const int* x, int threshold, int* counts, int* all_above,
                            int* any_negative) {
  const int value = x[blockIdx.x * blockDim.x + threadIdx.x];
  const int count = __syncthreads_count(value > threshold);
  const int all = __syncthreads_and(value > threshold);
  const int any = __syncthreads_or(value < 0);
  if (threadIdx.x == 0) {
    counts[blockIdx.x] = count;
    all_above[blockIdx.x] = all != 0;
    any_negative[blockIdx.x] = any != 0;
  }
}

int main() {
  const int blocks = 7, threshold = 10;
  std::vector<int> x = random_ints(blocks * kThreads, -5, 40);
  for (int i = 0; i < kThreads; ++i) x[3 * kThreads + i] = 11 + i;
  for (int i = 0; i < kThreads; ++i) x[5 * kThreads + i] = i % 10;
  DeviceArray<int> device_x(x), counts(blocks), all_above(blocks), any_negative(blocks);
  count_above<<<blocks, kThreads>>>(device_x.data(), threshold, counts.data(), all_above.data(),
                                    any_negative.data());
  std::vector<int> expected_counts(blocks, 0), expected_all(blocks, 1), expected_any(blocks, 0);
  for (int i = 0; i < blocks * kThreads; ++i) {
    const int block = i / kThreads;
    expected_counts[block] += x[i] > threshold;
    expected_all[block] &= x[i] > threshold;
    expected_any[block] |= x[i] < 0;
  }
  expect_equal("counts", counts.values(), expected_counts);
  expect_equal("all_above", all_above.values(), expected_all);
  expect_equal("any_negative", any_negative.values(), expected_any);
  return verdict();
}
