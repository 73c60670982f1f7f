// Launch sizes from the occupancy calculator: any answer that it may give must work.
#include "../program.cuh"

__global__ void saxpy(float a, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] += a * x[i];
}

__global__ void scaled_reverse(const float* x, float* out, int n) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tile[threadIdx.x] = x[i];
  __syncthreads();
  const int length = min((int)blockDim.x, n - (int)(blockIdx.x * blockDim.x));
  if (i < n) out[i] = 2 * tile[length - 1 - threadIdx.x];
}

int main() {
  const int n = 5000;
  const std::vector<float> x = random_floats(n);
  int grid = 0, block = 0, per_multiprocessor = 0, multiprocessors = 0, device = -1;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, saxpy, 0, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, saxpy, block, 0));
  expect_equal("sizes", grid > 0 && block > 0 && block <= 1024 && block % 32 == 0, true);
  expect_equal("occupancy", per_multiprocessor >= 1 && per_multiprocessor * block <= 2048, true);
  DeviceArray<float> device_x(x), y(std::vector<float>(n, 1.0f)), reversed(n);
  saxpy<<<per_multiprocessor * multiprocessors, block>>>(0.5f, device_x.data(), y.data(), n);
  std::vector<float> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = 1.0f + 0.5f * x[i];
  expect_close("y", y.values(), expected, 1e-6);

  int limited = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&limited, scaled_reverse, 256,
                                                      256 * sizeof(float)));
  expect_equal("with shared memory", limited >= 1 && limited <= 8, true);
  scaled_reverse<<<(n + 255) / 256, 256, 256 * sizeof(float)>>>(device_x.data(), reversed.data(),
                                                                n);
  for (int i = 0; i < n; ++i) {
    const int first = i / 256 * 256, length = first + 256 < n ? 256 : n - first;
    expected[i] = 2 * x[first + length - 1 - (i - first)];
  }
  expect_equal("reversed", reversed.values(), expected);
  return verdict();
}
