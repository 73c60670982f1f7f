// A stable radix sort, four bits at a time: counts by digit and block, their prefix sums, and
// places.
#include "../program.cuh"

#include <algorithm>

constexpr int kThreads = 128, kDigits = 16;

__global__ void count_digits(const unsigned* x, int n, int shift, int* counts) {
  __shared__ int in_block[kDigits];
  if (threadIdx.x < kDigits) in_block[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) atomicAdd(&in_block[x[i] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = in_block[threadIdx.x];
}

__global__ void exclusive_sums(int* counts, int n) {
  const int lane = threadIdx.x;
  int carry = 0;
  for (int first = 0; first < n; first += 32) {
    const int value = first + lane < n ? counts[first + lane] : 0;
    int sum = value;
    for (int offset = 1; offset < 32; offset *= 2) {
      const int left = __shfl_up_sync(0xffffffffu, sum, offset);
      if (lane >= offset) sum += left;
    }
    if (first + lane < n) counts[first + lane] = carry + sum - value;
    carry += __shfl_sync(0xffffffffu, sum, 31);
  }
}

__global__ void scatter(const unsigned* x, int n, int shift, const int* starts, unsigned* out) {
  __shared__ unsigned char digits[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int digit = i < n ? x[i] >> shift & 15 : kDigits;
  digits[threadIdx.x] = (unsigned char)digit;
  __syncthreads();
  if (i >= n) return;
  int rank = 0;
  for (int t = 0; t < threadIdx.x; ++t) rank += digits[t] == digit;
  out[starts[digit * gridDim.x + blockIdx.x] + rank] = x[i];
}

int main() {
  const int n = 1700, blocks = (n + kThreads - 1) / kThreads;
  std::vector<unsigned> x(n);
  unsigned state = 12345;
  for (unsigned& value : x) {
    state = state * 1664525u + 1013904223u;
    value = state ^ state >> 7;
  }
  DeviceArray<unsigned> a(x), b(n);
  DeviceArray<int> counts(kDigits * blocks);
  for (int shift = 0; shift < 32; shift += 4) {
    const unsigned* from = shift % 8 ? b.data() : a.data();
    unsigned* to = shift % 8 ? a.data() : b.data();
    count_digits<<<blocks, kThreads>>>(from, n, shift, counts.data());
    exclusive_sums<<<1, 32>>>(counts.data(), kDigits * blocks);
    scatter<<<blocks, kThreads>>>(from, n, shift, counts.data(), to);
  }
  std::sort(x.begin(), x.end());
  expect_equal("sorted", a.values(), x);
  return verdict();
}
