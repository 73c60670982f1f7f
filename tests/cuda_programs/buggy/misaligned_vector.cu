// finds: misaligned access, line 6
// A part of an array that does not start at a multiple of 16 bytes is read by float4.
#include "../program.cuh"

__global__ void sums_of_four(const float* x, float* out) {
  const float4 v = reinterpret_cast<const float4*>(x)[threadIdx.x];
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main() {
  DeviceArray<float> x(random_floats(4 * 32 + 4)), out(32);
  sums_of_four<<<1, 32>>>(x.data() + 1, out.data());
  return out.values().size() != 32;
}
