// finds: mismatched mask, line 7
// Lanes that take part in one vote name different sets of lanes.
#include "../program.cuh"

__global__ void votes(const int* x, int n, unsigned* out) {
  const unsigned mask = threadIdx.x % 32 < n % 32 ? (1u << n % 32) - 1 : 0xffffffffu;
  const unsigned positive = __ballot_sync(mask, x[threadIdx.x] > 0);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = positive;
}

int main() {
  DeviceArray<int> x(random_ints(32, -9, 9));
  DeviceArray<unsigned> out(1);
  votes<<<1, 32>>>(x.data(), 20, out.data());
  return out.values().size() != 1;
}
