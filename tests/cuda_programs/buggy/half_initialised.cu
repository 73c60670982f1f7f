// finds: uninitialised read of global memory, line 7
// cudaMemset gets the number of elements where it takes bytes.
#include "../program.cuh"

__global__ void count(const int* x, int n, int* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i]], 1);
}

int main() {
  const int n = 500, num_bins = 32;
  DeviceArray<int> x(random_ints(n, 0, num_bins - 1)), bins(num_bins);
  CHECK(cudaMemset(bins.data(), 0, num_bins));
  count<<<4, 128>>>(x.data(), n, bins.data());
  return bins.values().size() != num_bins;
}
