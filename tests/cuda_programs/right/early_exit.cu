// Threads without work return before the barriers of the others, and whole warps too.
#include "../program.cuh"

__global__ void reverse_segments(const int* x, int* out, const int* lengths, int stride) {
  extern __shared__ int segment[];
  const int length = lengths[blockIdx.x];
  if (threadIdx.x >= length) return;
  const int first = blockIdx.x * stride;
  segment[threadIdx.x] = x[first + threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = segment[length - 1 - threadIdx.x];
}

int main() {
  const int stride = 100;
  const std::vector<int> lengths = {100, 1, 33, 64, 0, 97};
  const std::vector<int> x = random_ints(stride * lengths.size(), 0, 1000000);
  std::vector<int> expected(x.size(), -1);
  for (size_t s = 0; s < lengths.size(); ++s)
    for (int i = 0; i < lengths[s]; ++i)
      expected[s * stride + i] = x[s * stride + lengths[s] - 1 - i];
  DeviceArray<int> device_x(x), out(std::vector<int>(x.size(), -1)), device_lengths(lengths);
  reverse_segments<<<lengths.size(), stride, stride * sizeof(int)>>>(device_x.data(), out.data(),
                                                                     device_lengths.data(), stride);
  expect_equal("reversed", out.values(), expected);
  return verdict();
}
