// finds: out of bounds write in shared memory, line 7
// The array fits blocks of 64 threads, and the launch has 96.
#include "../program.cuh"

__global__ void reverse(const int* x, int* out, int n) {
  __shared__ int tile[64];
  if (threadIdx.x < n) tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) out[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

int main() {
  const int n = 96;
  DeviceArray<int> x(random_ints(n, 0, 9)), out(n);
  reverse<<<1, n>>>(x.data(), out.data(), n);
  return out.values().size() != n;
}
