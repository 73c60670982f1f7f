// finds: uninitialised read of global memory, line 12
// The first kernel writes only what is not zero, and the second one reads everything.
#include "../program.cuh"

__global__ void relu(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) out[i] = x[i];
}

__global__ void square(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * x[i];
}

int main() {
  const int n = 128;
  DeviceArray<float> x(random_floats(n)), middle(n), out(n);
  relu<<<1, n>>>(x.data(), middle.data(), n);
  square<<<1, n>>>(middle.data(), out.data(), n);
  return out.values().size() != n;
}
