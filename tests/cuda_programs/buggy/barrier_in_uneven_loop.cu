// finds: divergent barrier, lines 11 and 16
// The grid-stride loop ends earlier for some threads, which then meet the others' barrier at
// another.
#include "../program.cuh"

__global__ void tile_sums(const int* x, int n, int* sums) {
  __shared__ int tile[64];
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += 64) {
    tile[threadIdx.x] = x[i];
    __syncthreads();
    sum += tile[0];
    __syncthreads();
  }
  tile[threadIdx.x] = sum;
  __syncthreads();
  sums[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
  DeviceArray<int> x(random_ints(100, 0, 99)), sums(64);
  tile_sums<<<1, 64>>>(x.data(), 100, sums.data());
  return sums.values().size() != 64;
}
