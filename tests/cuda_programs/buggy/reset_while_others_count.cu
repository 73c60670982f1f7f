// finds: data race in shared memory, lines 7 and 8
// A counter is set to zero by one thread while the others are counting already.
#include "../program.cuh"

__global__ void count_positive(const int* x, int* counts) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  if (x[blockIdx.x * blockDim.x + threadIdx.x] > 0) atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

int main() {
  DeviceArray<int> x(random_ints(3 * 64, 1, 9)), counts(3);
  count_positive<<<3, 64>>>(x.data(), counts.data());
  return counts.values().size() != 3;
}
