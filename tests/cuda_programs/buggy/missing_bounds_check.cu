// finds: out of bounds read, line 7
// The grid is rounded up to whole blocks, and the threads beyond the end work too.
#include "../program.cuh"

__global__ void dot(const float* a, const float* b, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(out, a[i] * b[i]);
}

int main() {
  const int n = 200;
  DeviceArray<float> a(random_floats(n)), b(random_floats(n)), out(std::vector<float>(1, 0.0f));
  dot<<<(n + 127) / 128, 128>>>(a.data(), b.data(), out.data());
  return out.values().size() != 1;
}
