// Every warp reduces and scans with memory of its own, and so do half-warps.
#include "../program.cuh"

#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

constexpr int kWarps = 3;

__global__ void by_warps(const int* x, int* sums, int* places) {
  using Reduce = cub::WarpReduce<int>;
  using Scan = cub::WarpScan<int>;
  __shared__ Reduce::TempStorage reduce_memory[kWarps];
  __shared__ Scan::TempStorage scan_memory[kWarps];
  const int warp = threadIdx.x / 32, value = x[threadIdx.x];
  const int sum = Reduce(reduce_memory[warp]).Sum(value);
  if (threadIdx.x % 32 == 0) sums[warp] = sum;
  int place;
  Scan(scan_memory[warp]).ExclusiveSum(value > 0, place);
  places[threadIdx.x] = place;
}

__global__ void by_half_warps(const float* x, float* smallest) {
  using Reduce = cub::WarpReduce<float, 16>;
  __shared__ Reduce::TempStorage memory[2 * kWarps];
  const int group = threadIdx.x / 16;
  const float least =
      Reduce(memory[group]).Reduce(x[threadIdx.x], [](float a, float b) { return fminf(a, b); });
  if (threadIdx.x % 16 == 0) smallest[group] = least;
}

int main() {
  const int n = 32 * kWarps;
  const std::vector<int> x = random_ints(n, -40, 40);
  const std::vector<float> floats = random_floats(n);
  std::vector<int> sums(kWarps, 0), places(n);
  std::vector<float> smallest(2 * kWarps, 1.0f);
  for (int i = 0; i < n; ++i) {
    places[i] = i % 32 ? places[i - 1] + (x[i - 1] > 0) : 0;
    sums[i / 32] += x[i];
    smallest[i / 16] = std::fmin(smallest[i / 16], floats[i]);
  }
  DeviceArray<int> device_x(x), device_sums(kWarps), device_places(n);
  DeviceArray<float> device_floats(floats), device_smallest(2 * kWarps);
  by_warps<<<1, n>>>(device_x.data(), device_sums.data(), device_places.data());
  by_half_warps<<<1, n>>>(device_floats.data(), device_smallest.data());
  expect_equal("sums", device_sums.values(), sums);
  expect_equal("places", device_places.values(), places);
  expect_equal("smallest", device_smallest.values(), smallest);
  return verdict();
}
