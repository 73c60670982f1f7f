// finds: mismatched mask, line 8
// The upper half of the warp reduces with the mask of the lower half.
#include "../program.cuh"

__global__ void half_sums(const int* x, int* out) {
  int value = x[threadIdx.x];
  for (int offset = 8; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0x0000ffffu, value, offset);
  if (threadIdx.x % 16 == 0) out[threadIdx.x / 16] = value;
}

int main() {
  DeviceArray<int> x(random_ints(32, 0, 99)), out(2);
  half_sums<<<1, 32>>>(x.data(), out.data());
  return out.values().size() != 2;
}
