// finds: data race in shared memory, line 9
// Bins of the block are counted up without atomics, because "it is only shared memory".
#include "../program.cuh"

__global__ void histogram(const int* x, int n, int* bins) {
  __shared__ int counts[8];
  if (threadIdx.x < 8) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) ++counts[x[i] % 8];
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

int main() {
  DeviceArray<int> x(random_ints(500, 0, 99)), bins(std::vector<int>(8, 0));
  histogram<<<1, 128>>>(x.data(), 500, bins.data());
  return bins.values().size() != 8;
}
