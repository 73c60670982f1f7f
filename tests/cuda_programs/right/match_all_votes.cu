// A warp asks whether all of its lanes hold the same value, any a zero, and all a positive one.
#include "../program.cuh"

struct Facts {
  unsigned same, any_zero, all_positive, negative_lanes;
};

__global__ void ask(const long long* x, Facts* facts) {
  const long long value = x[blockIdx.x * blockDim.x + threadIdx.x];
  const unsigned everyone = blockDim.x >= 32 ? 0xffffffffu : (1u << blockDim.x) - 1;
  int is_same;
  const unsigned same = __match_all_sync(everyone, value, &is_same);
  const int any_zero = __any_sync(everyone, value == 0);
  const int all_positive = __all_sync(everyone, value > 0);
  const unsigned negative = __ballot_sync(everyone, value < 0);
  if (threadIdx.x == 0)
    facts[blockIdx.x] = {is_same ? same : 0u, any_zero != 0, all_positive != 0, negative};
}

int main() {
  const int lanes = 24, everyone = (1 << lanes) - 1;
  std::vector<long long> x(4 * lanes, 1LL << 40);
  x[1 * lanes + 5] = (1LL << 40) + (1LL << 35);  // differs above the lower 32 bits
  x[2 * lanes + 23] = 0;
  x[3 * lanes + 0] = -1;
  x[3 * lanes + 9] = -7;
  DeviceArray<long long> device_x(x);
  DeviceArray<Facts> facts(4);
  ask<<<4, lanes>>>(device_x.data(), facts.data());
  const unsigned expected[4][4] = {
      {(unsigned)everyone, 0, 1, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}, {0, 0, 0, 1u | 1u << 9}};
  const std::vector<Facts> got = facts.values();
  for (int w = 0; w < 4; ++w) {
    expect_equal("same", got[w].same, expected[w][0]);
    expect_equal("any_zero", got[w].any_zero, expected[w][1]);
    expect_equal("all_positive", got[w].all_positive, expected[w][2]);
    expect_equal("negative_lanes", got[w].negative_lanes, expected[w][3]);
  }
  return verdict();
}
