// finds: misaligned access in shared memory, line 9
// Doubles come behind an odd number of ints in the dynamic shared memory.
#include "../program.cuh"

__global__ void weighted(const int* x, double* out, int n) {
  extern __shared__ __align__(16) int counts[];
  double* const weights = reinterpret_cast<double*>(counts + n);
  counts[threadIdx.x] = x[threadIdx.x];
  weights[threadIdx.x] = 1.0 / (1 + threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = counts[n - 1 - threadIdx.x] * weights[n - 1 - threadIdx.x];
}

int main() {
  const int n = 33;
  DeviceArray<int> x(random_ints(n, 0, 9));
  DeviceArray<double> out(n);
  weighted<<<1, n, n * (sizeof(int) + sizeof(double))>>>(x.data(), out.data(), n);
  return out.values().size() != n;
}
