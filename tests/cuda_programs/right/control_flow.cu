// Loops of different lengths, switch with and without break, goto, do-while and early returns.
#include "../program.cuh"

__device__ int collatz_length(unsigned long long value) {
  int length = 0;
  do {
    value = value % 2 ? 3 * value + 1 : value / 2;
    ++length;
  } while (value != 1);
  return length;
}

__device__ int interpret(const char* program, int input) {
  int accumulator = input, at = 0;
next:
  switch (program[at++]) {
    case 'd':
      accumulator *= 2;  // and then one more
    case 'i':
      ++accumulator;
      goto next;
    case 'n':
      accumulator = -accumulator;
      break;
    case 's':
      if (accumulator < 0) return accumulator;
      break;
    case 0:
      return accumulator;
    default:
      return -1000000;
  }
  goto next;
}

__device__ int first_factor(int value) {
  for (int k = 2; k * k <= value; ++k) {
    if (k % 2 == 0 && k > 2) continue;
    if (value % k == 0) return k;
  }
  return value;
}

__global__ void run(const char* program, int* lengths, int* results, int* factors, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  lengths[i] = collatz_length(i + 2);
  results[i] = interpret(program, i - 20);
  factors[i] = first_factor(i + 2);
}

int main() {
  const int n = 100;
  const std::vector<char> program = {'d', 's', 'n', 'i', 0};
  DeviceArray<char> device_program(program);
  DeviceArray<int> lengths(n), results(n), factors(n);
  run<<<4, 32>>>(device_program.data(), lengths.data(), results.data(), factors.data(), n);
  const std::vector<int> got_lengths = lengths.values(), got_factors = factors.values();
  std::vector<int> expected(n);
  for (int i = 0; i < n; ++i) {
    const int doubled = 2 * (i - 20) + 1;
    expected[i] = doubled < 0 ? doubled : 1 - doubled;
  }
  expect_equal("results", results.values(), expected);
  expect_equal("27 takes", got_lengths[25], 111);
  expect_equal("97 takes", got_lengths[95], 118);
  for (int i = 0; i < n; ++i) {
    int k = 2;
    while ((i + 2) % k) ++k;
    expect_equal("factor", got_factors[i], k);
  }
  return verdict();
}
