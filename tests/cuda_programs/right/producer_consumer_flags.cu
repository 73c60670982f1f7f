// Blocks as stages of a pipeline: each works on an item when the stage before it says that it is
// ready. Stages are numbered as their blocks start, so that none waits for one that is not running.
#include "../program.cuh"

constexpr int kItems = 24, kWords = 64, kStages = 4;

__device__ void wait_until(int* num_ready, int wanted) {
  while (atomicAdd(num_ready, 0) < wanted) __nanosleep(20);
  __threadfence();
}

__global__ void pipeline(int* items, int* num_ready, int* next_stage, long long* sums) {
  __shared__ int stage;
  const int t = threadIdx.x;
  if (t == 0) stage = atomicAdd(next_stage, 1);
  __syncthreads();
  for (int item = 0; item < kItems; ++item) {
    int* const mine = items + (stage * kItems + item) * kWords;
    if (stage == 0) {
      mine[t] = item * 10 + t;
    } else {
      const int* const earlier = mine - kItems * kWords;
      if (t == 0) wait_until(&num_ready[stage - 1], item + 1);
      __syncthreads();
      mine[t] = 2 * earlier[t] - earlier[kWords - 1 - t];
    }
    __threadfence();
    __syncthreads();
    if (t == 0) atomicAdd(&num_ready[stage], 1);
    if (t == 0 && stage == kStages - 1) {
      sums[item] = 0;
      for (int k = 0; k < kWords; ++k) sums[item] += (k + 1) * (long long)mine[k];
    }
  }
}

int main() {
  DeviceArray<int> items(kStages * kItems * kWords), num_ready(std::vector<int>(kStages, 0)),
      next_stage(std::vector<int>(1, 0));
  DeviceArray<long long> sums(kItems);
  pipeline<<<kStages, kWords>>>(items.data(), num_ready.data(), next_stage.data(), sums.data());
  std::vector<long long> expected(kItems, 0);
  for (int item = 0; item < kItems; ++item) {
    std::vector<int> words(kWords), next(kWords);
    for (int k = 0; k < kWords; ++k) words[k] = item * 10 + k;
    for (int stage = 1; stage < kStages; ++stage) {
      for (int k = 0; k < kWords; ++k) next[k] = 2 * words[k] - words[kWords - 1 - k];
      words = next;
    }
    for (int k = 0; k < kWords; ++k) expected[item] += (k + 1) * (long long)words[k];
  }
  expect_equal("sums", sums.values(), expected);
  expect_equal("ready", num_ready.values(), std::vector<int>(kStages, kItems));
  return verdict();
}
