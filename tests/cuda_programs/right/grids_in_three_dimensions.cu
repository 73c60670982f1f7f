// Every thread of three-dimensional grids and blocks is there once, and warps count x first.
#include "../program.cuh"

__global__ void visit(int* times, int* lanes, dim3 extent) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  const unsigned rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned first_of_warp = __shfl_sync(0xffffffffu, rank, 0);
  if (x >= extent.x || y >= extent.y || z >= extent.z) return;
  const unsigned i = (z * extent.y + y) * extent.x + x;
  atomicAdd(&times[i], 1);
  lanes[i] = rank - first_of_warp;
}

__global__ void sizes(unsigned* out) {
  if (threadIdx.x || threadIdx.y || threadIdx.z || blockIdx.x || blockIdx.y || blockIdx.z) return;
  const unsigned all[6] = {gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z};
  for (int k = 0; k < 6; ++k) out[k] = all[k];
}

int main() {
  const dim3 extent(13, 7, 9), block(4, 3, 5);
  const dim3 grid((extent.x + block.x - 1) / block.x, (extent.y + block.y - 1) / block.y,
                  (extent.z + block.z - 1) / block.z);
  const int n = extent.x * extent.y * extent.z;
  DeviceArray<int> times(std::vector<int>(n, 0)), lanes(n);
  visit<<<grid, block>>>(times.data(), lanes.data(), extent);
  expect_equal("times", times.values(), std::vector<int>(n, 1));
  std::vector<int> expected(n);
  for (int i = 0; i < n; ++i) {
    const int x = i % 13, y = i / 13 % 7, z = i / 91;
    expected[i] = (x % 4 + 4 * (y % 3 + 3 * (z % 5))) % 32;
  }
  expect_equal("lanes", lanes.values(), expected);
  DeviceArray<unsigned> out(6);
  sizes<<<dim3(2, 3), dim3{1, 2, 4}>>>(out.data());
  expect_equal("sizes", out.values(), std::vector<unsigned>{2, 3, 1, 1, 2, 4});
  return verdict();
}
