// finds: uninitialised read of shared memory, line 7
// Shared memory does not start with zeros.
#include "../program.cuh"

__global__ void block_sums(const int* x, int* sums) {
  __shared__ int sum;
  atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

int main() {
  DeviceArray<int> x(random_ints(128, 0, 9)), sums(2);
  block_sums<<<2, 64>>>(x.data(), sums.data());
  return sums.values().size() != 2;
}
