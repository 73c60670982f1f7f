// One block fills slots of a ring, another one empties them; flags say what is ready and what is free.
#include "../program.cuh"

constexpr int kSlots = 4, kItems = 48, kWords = 32;

__device__ void wait_until(int* flag, int value) {
  while (atomicAdd(flag, 0) < value) __nanosleep(20);
  __threadfence();
}

__global__ void pipeline(int* ring, int* produced, int* consumed, long long* sums) {
  const int t = threadIdx.x;
  for (int item = 0; item < kItems; ++item) {
    int* const slot = ring + item % kSlots * kWords;
    if (blockIdx.x == 0) {
      if (t == 0) wait_until(consumed, item - kSlots + 1);
      __syncthreads();
      slot[t] = item * 1000 + t;
      __threadfence();
      __syncthreads();
      if (t == 0) atomicAdd(produced, 1);
    } else {
      if (t == 0) wait_until(produced, item + 1);
      __syncthreads();
      const int sum = __reduce_add_sync(0xffffffffu, slot[t]);
      __threadfence();
      __syncthreads();
      if (t == 0) {
        sums[item] = sum;
        atomicAdd(consumed, 1);
      }
    }
  }
}

int main() {
  DeviceArray<int> ring(kSlots * kWords), flags(std::vector<int>(2, 0));
  DeviceArray<long long> sums(kItems);
  pipeline<<<2, kWords>>>(ring.data(), flags.data(), flags.data() + 1, sums.data());
  std::vector<long long> expected(kItems);
  for (int item = 0; item < kItems; ++item) expected[item] = item * 1000LL * kWords + kWords * (kWords - 1) / 2;
  expect_equal("sums", sums.values(), expected);
  return verdict();
}
