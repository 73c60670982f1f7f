// finds: host access, line 14
// The host looks at a result without copying it.
#include "../program.cuh"

__global__ void largest(const int* x, int n, int* out) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicMax(out, x[i]);
}

int main() {
  DeviceArray<int> x(random_ints(100, 1, 99)), out(std::vector<int>(1, 0));
  largest<<<1, 64>>>(x.data(), 100, out.data());
  CHECK(cudaDeviceSynchronize());
  const int* const result = out.data();
  return *result < 1;
}
