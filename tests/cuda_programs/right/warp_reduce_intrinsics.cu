// The reductions that a warp has in hardware, over all lanes and over every third one.
#include "../program.cuh"

constexpr int kFacts = 8;

__device__ void reduce(unsigned mask, int value, int* facts) {
  const unsigned bits = (unsigned)value;
  const int sum = __reduce_add_sync(mask, value);
  const int smallest = __reduce_min_sync(mask, value), largest = __reduce_max_sync(mask, value);
  const unsigned low = __reduce_min_sync(mask, bits), high = __reduce_max_sync(mask, bits);
  const unsigned both = __reduce_and_sync(mask, bits), either = __reduce_or_sync(mask, bits);
  const unsigned odd = __reduce_xor_sync(mask, bits);
  const int all[kFacts] = {sum,       smallest,  largest,     (int)low,
                           (int)high, (int)both, (int)either, (int)odd};
  if (threadIdx.x % 32 == __ffs(mask) - 1)
    for (int k = 0; k < kFacts; ++k) facts[k] = all[k];
}

__global__ void reductions(const int* x, int* facts) {
  const int value = x[threadIdx.x], warp = threadIdx.x / 32;
  reduce(0xffffffffu, value, facts + 2 * warp * kFacts);
  const unsigned third = 0x49249249u;
  if (third >> (threadIdx.x % 32) & 1) reduce(third, value, facts + (2 * warp + 1) * kFacts);
}

int main() {
  const int warps = 3;
  std::vector<int> x = random_ints(32 * warps, -5000000, 5000000), expected;
  for (int& value : x) value ^= 1 << 24;
  for (int row = 0; row < 2 * warps; ++row) {
    int sum = 0, low = x[row / 2 * 32], high = low;
    unsigned ulow = low, uhigh = low, both = ~0u, either = 0, odd = 0;
    for (int lane = 0; lane < 32; lane += row % 2 ? 3 : 1) {
      const int value = x[row / 2 * 32 + lane];
      const unsigned bits = value;
      sum += value;
      low = value < low ? value : low;
      high = value > high ? value : high;
      ulow = bits < ulow ? bits : ulow;
      uhigh = bits > uhigh ? bits : uhigh;
      both &= bits;
      either |= bits;
      odd ^= bits;
    }
    for (unsigned fact :
         {(unsigned)sum, (unsigned)low, (unsigned)high, ulow, uhigh, both, either, odd})
      expected.push_back((int)fact);
  }
  DeviceArray<int> device_x(x), facts(expected.size());
  reductions<<<1, 32 * warps>>>(device_x.data(), facts.data());
  expect_equal("facts", facts.values(), expected);
  return verdict();
}
