// A kernel sized by what the device says of itself, and attributes of a kernel.
#include "../program.cuh"

__global__ void __launch_bounds__(256) ranks(int* out, int n) {
  __shared__ int first;
  if (threadIdx.x == 0) first = blockIdx.x * blockDim.x;
  __syncthreads();
  const int i = first + threadIdx.x;
  if (i < n) out[i] = i % warpSize;
}

int main() {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  expect_equal("there is a device", count >= 1, true);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  expect_equal("has a name", properties.name[0] != '\0', true);
  expect_equal("warp", properties.warpSize, 32);
  expect_equal("threads", properties.maxThreadsPerBlock, 1024);
  expect_equal("depth", properties.maxThreadsDim[2], 64);
  expect_equal("grid", properties.maxGridSize[1], 65535);
  expect_equal("shared", properties.sharedMemPerBlock, (size_t)48 << 10);
  expect_equal("constant", properties.totalConstMem, (size_t)64 << 10);
  expect_equal("memory", properties.totalGlobalMem > 0 && properties.multiProcessorCount > 0, true);
  int threads = 0, runtime = 0, driver = 0;
  CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 0));
  expect_equal("attribute", threads, properties.maxThreadsPerBlock);
  CHECK(cudaRuntimeGetVersion(&runtime));
  CHECK(cudaDriverGetVersion(&driver));
  expect_equal("version", runtime >= 11000 && driver >= runtime / 1000 * 1000, true);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, ranks));
  expect_equal("launchable",
               attributes.maxThreadsPerBlock >= 256 && attributes.maxThreadsPerBlock <= 1024, true);
  size_t free_bytes = 0, total_bytes = 0;
  CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  expect_equal("free", free_bytes > 0 && free_bytes <= total_bytes, true);
  const int n = 700;
  DeviceArray<int> out(n);
  ranks<<<(n + 255) / 256, 256>>>(out.data(), n);
  const std::vector<int> got = out.values();
  for (int i = 0; i < n; ++i) expect_equal("rank", got[i], i % 32);
  return verdict();
}
