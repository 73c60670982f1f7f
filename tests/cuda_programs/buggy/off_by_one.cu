// finds: out of bounds write, line 7
// The check of the bounds lets one thread too many pass.
#include "../program.cuh"

__global__ void fill(float* x, int n, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = value;
}

int main() {
  const int n = 250;
  DeviceArray<float> x(n);
  fill<<<2, 128>>>(x.data(), n, 1.0f);
  return x.values().size() != n;
}
