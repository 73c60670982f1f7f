// Every atomic operation on integers, so that its result does not depend on the order of threads.
#include "../program.cuh"

struct Totals {
  int sum, smallest, largest, bits_and, bits_or, bits_xor;
  unsigned wrapped_up, wrapped_down, smallest_unsigned;
  unsigned long long wide_sum, wide_largest, wide_or;
  long long signed_smallest;
  int times_swapped;
};

__global__ void accumulate(const int* x, int n, Totals* totals, int* owners) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int value = x[i];
  atomicAdd(&totals->sum, value);
  atomicSub(&totals->sum, 1);
  atomicMin(&totals->smallest, value);
  atomicMax(&totals->largest, value);
  atomicAnd(&totals->bits_and, value | 0xff);
  atomicOr(&totals->bits_or, value & 0xff);
  atomicXor(&totals->bits_xor, value);
  atomicInc(&totals->wrapped_up, 9u);
  atomicDec(&totals->wrapped_down, 9u);
  atomicMin(&totals->smallest_unsigned, (unsigned)value);
  atomicAdd(&totals->wide_sum, (unsigned long long)i << 33);
  atomicMax(&totals->wide_largest, (unsigned long long)i << 33);
  atomicOr(&totals->wide_or, 1ull << (i % 64));
  atomicMin(&totals->signed_smallest, -((long long)i << 33));
  if (atomicCAS(&owners[i % 10], -1, i) == -1) atomicAdd(&totals->times_swapped, 1);
}

int main() {
  const int n = 777;
  const std::vector<int> x = random_ints(n, -100000, 100000);
  Totals t = {0, 1 << 30, -(1 << 30), ~0, 0, 0, 0, 0, ~0u, 0, 0, 0, 0, 0};
  DeviceArray<int> device_x(x), owners(std::vector<int>(10, -1));
  DeviceArray<Totals> totals(std::vector<Totals>(1, t));
  accumulate<<<7, 128>>>(device_x.data(), n, totals.data(), owners.data());
  for (int i = 0; i < n; ++i) {
    t.sum += x[i] - 1;
    t.smallest = x[i] < t.smallest ? x[i] : t.smallest;
    t.largest = x[i] > t.largest ? x[i] : t.largest;
    t.bits_and &= x[i] | 0xff;
    t.bits_or |= x[i] & 0xff;
    t.bits_xor ^= x[i];
    t.smallest_unsigned =
        (unsigned)x[i] < t.smallest_unsigned ? (unsigned)x[i] : t.smallest_unsigned;
    t.wide_sum += (unsigned long long)i << 33;
  }
  const Totals got = totals.values()[0];
  expect_equal("sum", got.sum, t.sum);
  expect_equal("smallest", got.smallest, t.smallest);
  expect_equal("largest", got.largest, t.largest);
  expect_equal("and", got.bits_and, t.bits_and);
  expect_equal("or", got.bits_or, t.bits_or);
  expect_equal("xor", got.bits_xor, t.bits_xor);
  expect_equal("inc", got.wrapped_up, n % 10u);
  expect_equal("dec", got.wrapped_down, (10u - n % 10u) % 10u);
  expect_equal("unsigned", got.smallest_unsigned, t.smallest_unsigned);
  expect_equal("wide_sum", got.wide_sum, t.wide_sum);
  expect_equal("wide_largest", got.wide_largest, (unsigned long long)(n - 1) << 33);
  expect_equal("wide_or", got.wide_or == ~0ull, true);
  expect_equal("signed_smallest", got.signed_smallest, -((long long)(n - 1) << 33));
  expect_equal("swapped", got.times_swapped, 10);
  for (int k = 0; k < 10; ++k) expect_equal("owner", owners.values()[k] % 10, k);
  return verdict();
}
