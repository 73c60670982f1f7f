// finds: out of bounds read, line 7
// A kernel gets the host's own array instead of its copy on the device.
#include "../program.cuh"

__global__ void sum(const float* x, int n, float* out) {
  float value = 0;
  for (int i = threadIdx.x; i < n; i += 32) value += x[i];
  for (int offset = 16; offset; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  if (threadIdx.x == 0) *out = value;
}

int main() {
  const std::vector<float> x = random_floats(100);
  DeviceArray<float> out(1);
  sum<<<1, 32>>>(x.data(), 100, out.data());
  return out.values().size() != 1;
}
