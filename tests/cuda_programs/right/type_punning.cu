// The same bytes read as other types, as CUDA code does everywhere: eight halves through a uint4, the
// bits of a float through an int pointer, two integers through a double, bytes of a word.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../program.cuh"

constexpr int threads = 64;

template <class Narrow>
__global__ void add_eight(const Narrow* a, Narrow* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 packed = reinterpret_cast<const uint4*>(a)[i];
  uint4 total = reinterpret_cast<uint4*>(sum)[i];
  Narrow* const parts = reinterpret_cast<Narrow*>(&packed);
  Narrow* const totals = reinterpret_cast<Narrow*>(&total);
  for (int k = 0; k < 8; ++k) totals[k] += parts[k] * parts[k];
  reinterpret_cast<uint4*>(sum)[i] = total;
}

__global__ void pun(const float* x, int* bits, double* pairs, unsigned* swapped) {
  const int i = threadIdx.x;
  float value = x[i];
  int* const word = reinterpret_cast<int*>(&value);
  *word ^= 0x80000000;
  bits[i] = *(int*)&value;
  value = -value;

  double pair = 0;
  int* const half = (int*)&pair;
  half[0] = i;
  half[1] = *word;
  pairs[i] = pair;

  unsigned number = 0x01020304u * (i % 32);
  unsigned short* const shorts = reinterpret_cast<unsigned short*>(&number);
  const unsigned short low = shorts[0];
  shorts[0] = shorts[1];
  shorts[1] = low;
  swapped[i] = number;
}

template <class Narrow>
void try_eight() {
  std::vector<Narrow> values(threads * 8), ones(threads * 8, Narrow(1.0f));
  for (int i = 0; i < threads * 8; ++i) values[i] = Narrow(float(i % 5));
  DeviceArray<Narrow> a(values), sum(ones);
  add_eight<<<2, threads / 2>>>(a.data(), sum.data());
  const std::vector<Narrow> got = sum.values();
  for (int i = 0; i < threads * 8; ++i)
    expect_equal("sum of eight", float(got[i]), float(1 + (i % 5) * (i % 5)));
}

int main() {
  try_eight<__half>();
  try_eight<__nv_bfloat16>();
  const std::vector<float> x = random_floats(threads);
  DeviceArray<float> device_x(x);
  DeviceArray<int> bits(threads);
  DeviceArray<double> pairs(threads);
  DeviceArray<unsigned> swapped(threads);
  pun<<<1, threads>>>(device_x.data(), bits.data(), pairs.data(), swapped.data());
  for (int i = 0; i < threads; ++i) {
    int word, halves[2];
    const double pair = pairs.values()[i];
    memcpy(&word, &x[i], sizeof word);
    memcpy(halves, &pair, sizeof halves);
    expect_equal("bits", bits.values()[i], int(word ^ 0x80000000));
    expect_equal("first half", halves[0], i);
    expect_equal("second half", halves[1], word);
    const unsigned number = 0x01020304u * (i % 32);
    expect_equal("swapped", swapped.values()[i], number << 16 | number >> 16);
  }
  return verdict();
}
