// finds: mismatched mask, lines 8 and 9
// Only half of the lanes enter the branch, but the shuffle there waits for all; the others are at
// another one.
#include "../program.cuh"

__global__ void exchange(const int* x, int* out) {
  int value = x[threadIdx.x];
  if (threadIdx.x % 32 < 16) value += __shfl_down_sync(0xffffffffu, value, 8);
  value = __reduce_add_sync(0xffffffffu, value);
  out[threadIdx.x] = value;
}

int main() {
  DeviceArray<int> x(random_ints(32, 0, 99)), out(32);
  exchange<<<1, 32>>>(x.data(), out.data());
  return out.values().size() != 32;
}
