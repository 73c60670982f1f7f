// Whichever lanes happen to be together send one atomic; the result is the same however many groups
// they come in.
#include "../program.cuh"

__device__ int next_place(int* counter) {
  const unsigned active = __activemask();
  const int lane = threadIdx.x % 32, leader = __ffs(active) - 1;
  int first = 0;
  if (lane == leader) first = atomicAdd(counter, __popc(active));
  first = __shfl_sync(active, first, leader);
  return first + __popc(active & ((1u << lane) - 1));
}

__global__ void collect_multiples(int n, int divisor, int* counter, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % divisor == 0) out[next_place(counter)] = i;
}

int main() {
  const int n = 1000;
  for (int divisor : {1, 2, 7, 31}) {
    const int expected = (n + divisor - 1) / divisor;
    DeviceArray<int> counter(std::vector<int>(1, 0)), out(expected);
    collect_multiples<<<5, 224>>>(n, divisor, counter.data(), out.data());
    expect_equal("count", counter.values()[0], expected);
    std::vector<int> times_seen(n, 0);
    for (int value : out.values()) ++times_seen[value];
    for (int i = 0; i < n; ++i) expect_equal("times", times_seen[i], (int)(i % divisor == 0));
  }
  return verdict();
}
