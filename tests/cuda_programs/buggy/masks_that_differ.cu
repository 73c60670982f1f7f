// finds: mismatched mask, line 8
// Each lane names itself and the next one, so that no two lanes name the same pair.
#include "../program.cuh"

__global__ void sums_with_the_next(const int* x, int* out) {
  const int lane = threadIdx.x % 32, next = (lane + 1) % 32;
  const unsigned pair = 1u << lane | 1u << next;
  out[threadIdx.x] = x[threadIdx.x] + __shfl_sync(pair, x[threadIdx.x], next);
}

int main() {
  DeviceArray<int> x(random_ints(32, -9, 9)), out(32);
  sums_with_the_next<<<1, 32>>>(x.data(), out.data());
  return out.values().size() != 32;
}
