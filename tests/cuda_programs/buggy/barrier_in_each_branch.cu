// finds: divergent barrier, lines 9 and 11
// Producers and consumers each have a barrier of their own in the text.
#include "../program.cuh"

__global__ void hand_over(const int* x, int* out) {
  __shared__ int slots[32];
  if (threadIdx.x < 32) {
    slots[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
  } else {
    __syncthreads();
    out[threadIdx.x - 32] = slots[63 - threadIdx.x];
  }
}

int main() {
  DeviceArray<int> x(random_ints(32, 0, 99)), out(32);
  hand_over<<<1, 64>>>(x.data(), out.data());
  return out.values().size() != 32;
}
