// assert holds silently, and the clocks of a multiprocessor never run backwards.
#include "../program.cuh"

#include <cassert>

__global__ void checked(const int* x, int n, long long* elapsed, int* sum) {
  const long long start = clock64();
  const clock_t short_start = clock();
  int own = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    assert(x[i] >= 0 && "all numbers are natural");
    own += x[i];
  }
  atomicAdd(sum, own);
  (void)short_start;
  elapsed[threadIdx.x] = clock64() - start;
}

int main() {
  const int n = 400;
  const std::vector<int> x = random_ints(n, 0, 9);
  DeviceArray<int> device_x(x), sum(std::vector<int>(1, 0));
  DeviceArray<long long> elapsed(64);
  checked<<<1, 64>>>(device_x.data(), n, elapsed.data(), sum.data());
  int expected = 0;
  for (int value : x) expected += value;
  expect_equal("sum", sum.values()[0], expected);
  for (long long cycles : elapsed.values()) expect_equal("cycles", cycles >= 0, true);
  return verdict();
}
