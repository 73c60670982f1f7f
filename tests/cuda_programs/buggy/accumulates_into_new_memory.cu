// finds: uninitialised read of global memory, line 7
// cudaMalloc does not clear what the kernel adds to.
#include "../program.cuh"

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

int main() {
  const int n = 100;
  DeviceArray<float> x(random_floats(n)), y(n);
  saxpy<<<1, 128>>>(2.0f, x.data(), y.data(), n);
  return y.values().size() != n;
}
