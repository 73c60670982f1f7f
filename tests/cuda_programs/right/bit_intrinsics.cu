// Counting, finding, reversing and shifting bits, of 32 and of 64, with 0 and all ones among them.
#include "../program.cuh"

constexpr int kFacts = 12;

__global__ void bits(const unsigned long long* x, unsigned long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long wide = x[i];
  const unsigned low = (unsigned)wide, high = (unsigned)(wide >> 32);
  unsigned long long* const facts = out + kFacts * i;
  facts[0] = __popc(low);
  facts[1] = __popcll(wide);
  facts[2] = __clz((int)low);
  facts[3] = __clzll((long long)wide);
  facts[4] = __ffs((int)low);
  facts[5] = __ffsll((long long)wide);
  facts[6] = __brev(low);
  facts[7] = __brevll(wide);
  facts[8] = __funnelshift_l(low, high, 5);
  facts[9] = __funnelshift_r(low, high, 37);  // the shift is taken modulo 32
  facts[10] = __umulhi(low, high);
  facts[11] = __umul64hi(wide, wide);
}

int main() {
  std::vector<unsigned long long> x = {
      0, ~0ull, 1, 1ull << 63, 0xffffffff00000000ull, 0x80000000ull};
  for (int i = 0; i < 60; ++i) x.push_back(0x9e3779b97f4a7c15ull * (i + 1) >> i);
  std::vector<unsigned long long> expected;
  for (const unsigned long long v : x) {
    const unsigned long long low = (unsigned)v, high = v >> 32;
    int ones = 0, ones_low = 0, lead = 0, lead_low = 0, first = 0, first_low = 0;
    unsigned long long reversed = 0;
    for (int k = 0; k < 64; ++k) {
      ones += v >> k & 1;
      ones_low += k < 32 && v >> k & 1;
      reversed |= (v >> k & 1) << (63 - k);
      first = first || !(v >> k & 1) ? first : k + 1;
      first_low = first_low || k > 31 || !(v >> k & 1) ? first_low : k + 1;
    }
    while (lead < 64 && !(v << lead >> 63)) ++lead;
    while (lead_low < 32 && !(low >> (31 - lead_low) & 1)) ++lead_low;
    const unsigned long long cross = low * low >> 32, middle = low * high;
    const unsigned long long carry = cross + (unsigned)middle + (unsigned)middle;
    const unsigned long long product = high * high + 2 * (middle >> 32) + (carry >> 32);
    const unsigned long long facts[kFacts] = {
        (unsigned)ones_low,       (unsigned)ones,     (unsigned)lead_low,         (unsigned)lead,
        (unsigned)first_low,      (unsigned)first,    (unsigned)(reversed >> 32), reversed,
        (unsigned)(v << 5 >> 32), (unsigned)(v >> 5), low * high >> 32,           product};
    expected.insert(expected.end(), facts, facts + kFacts);
  }
  const int n = (int)x.size();
  DeviceArray<unsigned long long> device_x(x), out(kFacts * n);
  bits<<<2, 64>>>(device_x.data(), out.data(), n);
  const std::vector<unsigned long long> got = out.values();
  for (size_t i = 0; i < expected.size(); ++i) {
    expect_equal("low word", (unsigned)got[i], (unsigned)expected[i]);
    expect_equal("high word", (unsigned)(got[i] >> 32), (unsigned)(expected[i] >> 32));
  }
  return verdict();
}
