// finds: out of bounds read, line 9
// The distance from the middle is taken with unsigned numbers, which do not become negative.
#include "../program.cuh"

__global__ void mirrored(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned other = n - 2 - i;
  out[i] = x[other];
}

int main() {
  const int n = 64;
  DeviceArray<float> x(random_floats(n)), out(n);
  mirrored<<<1, 64>>>(x.data(), out.data(), n);
  return out.values().size() != n;
}
