// Integers of 256 bits: sums with carries across lanes, products from high and low halves.
#include "../program.cuh"

constexpr int kWords = 8;

// Eight lanes hold a number, its lowest word in the first of them.
__global__ void add(const unsigned* a, const unsigned* b, unsigned* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % kWords;
  const unsigned sum = a[i] + b[i];
  unsigned generates = __ballot_sync(0xffffffffu, sum < a[i]) >> (threadIdx.x % 32 - lane) & 0xffu;
  const unsigned passes_on =
      __ballot_sync(0xffffffffu, sum == 0xffffffffu) >> (threadIdx.x % 32 - lane) & 0xffu;
  // Adding the carries to the words that pass them on lets them run through in one step.
  const unsigned carries = (passes_on + 2 * generates) ^ passes_on;
  out[i] = sum + (carries >> lane & 1);
}

__global__ void multiply_by_word(const unsigned* a, unsigned factor, unsigned* out, int n) {
  const int number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= n) return;
  unsigned carry = 0;
  for (int w = 0; w < kWords; ++w) {
    const unsigned low = a[number * kWords + w] * factor,
                   high = __umulhi(a[number * kWords + w], factor);
    out[number * kWords + w] = low + carry;
    carry = high + (low + carry < low);
  }
}

int main() {
  const int n = 32;
  std::vector<unsigned> a(n * kWords), b(n * kWords), sums(n * kWords), products(n * kWords);
  unsigned state = 1;
  for (int i = 0; i < n * kWords; ++i) {
    a[i] = state = state * 1664525u + 1013904223u;
    b[i] = i % 5 == 1 ? ~a[i] : i % 7 == 3 ? ~a[i] + 1 : state >> 3;
  }
  const unsigned factor = 0xdeadbeefu;
  for (int number = 0; number < n; ++number) {
    unsigned long long sum = 0, product = 0;
    for (int w = number * kWords; w < (number + 1) * kWords; ++w) {
      sum = (sum >> 32) + a[w] + b[w];
      product = (product >> 32) + (unsigned long long)a[w] * factor;
      sums[w] = (unsigned)sum;
      products[w] = (unsigned)product;
    }
  }
  DeviceArray<unsigned> device_a(a), device_b(b), out(n * kWords);
  add<<<2, 128>>>(device_a.data(), device_b.data(), out.data());
  expect_equal("sums", out.values(), sums);
  multiply_by_word<<<1, 64>>>(device_a.data(), factor, out.data(), n);
  expect_equal("products", out.values(), products);
  return verdict();
}
