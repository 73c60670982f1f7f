// finds: out of bounds read, line 8
// The number of vectors is rounded up, so that the last one is only partly there.
#include "../program.cuh"

__global__ void row_sum(const float4* x, int vectors, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= vectors) return;
  const float4 v = x[i];
  atomicAdd(out, v.x + v.y + v.z + v.w);
}

int main() {
  const int n = 130;
  DeviceArray<float> x(random_floats(n)), out(std::vector<float>(1, 0.0f));
  row_sum<<<1, 64>>>((const float4*)x.data(), (n + 3) / 4, out.data());
  return out.values().size() != 1;
}
