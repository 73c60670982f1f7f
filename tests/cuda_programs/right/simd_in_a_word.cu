// Four bytes or two shorts in one word: dot products, sums with saturation, comparisons, shuffled
// bytes.
#include "../program.cuh"

constexpr int kFacts = 8;

__global__ void bytes(const unsigned* a, const unsigned* b, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned* const facts = out + kFacts * i;
  facts[0] = __dp4a((int)a[i], (int)b[i], 1000);
  facts[1] = __dp4a(a[i], b[i], 5u);
  facts[2] = __vadd4(a[i], b[i]);
  facts[3] = __vaddus4(a[i], b[i]);
  facts[4] = __vabsdiffu4(a[i], b[i]);
  facts[5] = __vcmpgtu4(a[i], b[i]);
  facts[6] = __vadd2(a[i], b[i]);
  facts[7] = __byte_perm(a[i], b[i], 0x0735);
}

int main() {
  const int n = 90;
  std::vector<unsigned> a(n), b(n), expected;
  for (int i = 0; i < n; ++i) {
    a[i] = 0x9e3779b9u * (i + 1);
    b[i] = i % 9 ? 0x85ebca6bu * (i + 3) : a[i];
    int dot = 1000;
    unsigned udot = 5, sum = 0, saturated = 0, difference = 0, greater = 0;
    for (int k = 0; k < 32; k += 8) {
      const unsigned x = a[i] >> k & 255, y = b[i] >> k & 255;
      dot += (int)(signed char)x * (signed char)y;
      udot += x * y;
      sum |= (x + y & 255) << k;
      saturated |= (x + y > 255 ? 255 : x + y) << k;
      difference |= (x > y ? x - y : y - x) << k;
      greater |= (x > y ? 255u : 0u) << k;
    }
    const unsigned halves = (a[i] + b[i] & 0xffff) | ((a[i] >> 16) + (b[i] >> 16)) << 16;
    const unsigned chosen =
        (a[i] & 255) << 24 | (b[i] >> 24) << 16 | (a[i] >> 24) << 8 | (b[i] >> 8 & 255);
    for (unsigned fact : {(unsigned)dot, udot, sum, saturated, difference, greater, halves, chosen})
      expected.push_back(fact);
  }
  DeviceArray<unsigned> device_a(a), device_b(b), out(kFacts * n);
  bytes<<<3, 32>>>(device_a.data(), device_b.data(), out.data(), n);
  expect_equal("facts", out.values(), expected);
  return verdict();
}
