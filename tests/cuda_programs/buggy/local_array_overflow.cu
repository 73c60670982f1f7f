// finds: out of bounds write in local memory, line 9
// The bits of a number are collected in an array for seven of them.
#include "../program.cuh"

__global__ void bit_places(const unsigned* x, int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int places[7], count = 0;
  for (unsigned rest = x[i]; rest; rest &= rest - 1) places[count++] = __ffs(rest) - 1;
  int sum = 0;
  for (int k = 0; k < count; ++k) sum += places[k];
  sums[i] = sum;
}

int main() {
  std::vector<unsigned> x(64);
  for (int i = 0; i < 64; ++i) x[i] = 3u * i + 1;
  x[50] = 0x0ffu << 8;
  DeviceArray<unsigned> device_x(x);
  DeviceArray<int> sums(64);
  bit_places<<<1, 64>>>(device_x.data(), sums.data(), 64);
  return sums.values().size() != 64;
}
