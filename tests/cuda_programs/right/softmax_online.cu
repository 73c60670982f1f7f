// A softmax that reads its row twice instead of three times: the maximum and the sum are found
// together, and pairs of them are merged.
#include "../program.cuh"

struct Partial {
  float largest, sum;
};

__device__ Partial merge(Partial a, Partial b) {
  const float largest = fmaxf(a.largest, b.largest);
  if (largest == -INFINITY) return a;
  return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

template <int Threads>
__global__ void softmax(const float* __restrict__ x, float* __restrict__ out, int columns) {
  __shared__ Partial of_warps[Threads / 32];
  const float* const row = x + (size_t)blockIdx.x * columns;
  Partial own = {-INFINITY, 0.0f};
  for (int c = threadIdx.x; c < columns; c += Threads) own = merge(own, {row[c], 1.0f});
  for (int offset = 16; offset; offset /= 2)
    own = merge(own, {__shfl_xor_sync(0xffffffffu, own.largest, offset),
                      __shfl_xor_sync(0xffffffffu, own.sum, offset)});
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = own;
  __syncthreads();
  Partial all = of_warps[0];
  for (int w = 1; w < Threads / 32; ++w) all = merge(all, of_warps[w]);
  for (int c = threadIdx.x; c < columns; c += Threads)
    out[(size_t)blockIdx.x * columns + c] = expf(row[c] - all.largest) / all.sum;
}

int main() {
  for (int columns : {1, 7, 130, 501}) {
    const int rows = 5;
    std::vector<float> x = random_floats(rows * columns, -20, 20, columns), expected(x.size());
    x[2] = 88;
    for (int r = 0; r < rows; ++r) {
      double sum = 0, largest = -INFINITY;
      for (int c = 0; c < columns; ++c) largest = std::fmax(largest, (double)x[r * columns + c]);
      for (int c = 0; c < columns; ++c) sum += std::exp(x[r * columns + c] - largest);
      for (int c = 0; c < columns; ++c)
        expected[r * columns + c] = (float)(std::exp(x[r * columns + c] - largest) / sum);
    }
    DeviceArray<float> device_x(x), out(x.size());
    softmax<96><<<rows, 96>>>(device_x.data(), out.data(), columns);
    expect_close("softmax", out.values(), expected, 1e-5);
  }
  return verdict();
}
