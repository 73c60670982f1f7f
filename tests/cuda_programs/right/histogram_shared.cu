// A histogram of bytes: each block counts in shared memory and adds its counts to the whole.
#include "../program.cuh"

constexpr int kBins = 64;

__global__ void histogram(const unsigned char* text, int n, unsigned* bins) {
  __shared__ unsigned counts[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) counts[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[text[i] % kBins], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x)
    if (counts[bin]) atomicAdd(&bins[bin], counts[bin]);
}

int main() {
  const int n = 9999;
  std::vector<unsigned char> text(n);
  std::vector<unsigned> expected(kBins, 0);
  for (int i = 0; i < n; ++i) {
    text[i] = (unsigned char)(i * i / 7);
    ++expected[text[i] % kBins];
  }
  DeviceArray<unsigned char> device_text(text);
  DeviceArray<unsigned> bins(kBins);
  CHECK(cudaMemset(bins.data(), 0, kBins * sizeof(unsigned)));
  histogram<<<6, 96>>>(device_text.data(), n, bins.data());
  expect_equal("bins", bins.values(), expected);
  return verdict();
}
