// finds: data race in global memory, line 8
// Neighbours are read from the array that is being written.
#include "../program.cuh"

__global__ void average(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 || i >= n - 1) return;
  x[i] = 0.5f * (x[i - 1] + x[i + 1]);
}

int main() {
  const int n = 200;
  DeviceArray<float> x(random_floats(n));
  average<<<4, 64>>>(x.data(), n);
  return x.values().size() != n;
}
