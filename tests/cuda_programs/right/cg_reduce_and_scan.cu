// Reductions and scans of cooperative groups, one warp a row.
#include "../program.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void rows_by_warp(const int* x, int columns, int* sums, int* largest, int* scans) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  int sum = 0, most = -1 << 30, carry = 0;
  for (int first = 0; first < columns; first += warp.size()) {
    const int c = first + warp.thread_rank();
    const int value = c < columns ? x[row * columns + c] : 0;
    sum += value;
    most = max(most, c < columns ? value : most);
    const int before = cg::exclusive_scan(warp, value);
    if (c < columns) scans[row * columns + c] = carry + before;
    carry += cg::reduce(warp, value, cg::plus<int>());
  }
  sum = cg::reduce(warp, sum, cg::plus<int>());
  most = cg::reduce(warp, most, cg::greater<int>());
  if (warp.thread_rank() == 0) {
    sums[row] = sum;
    largest[row] = most;
  }
}

int main() {
  const int rows = 6, columns = 77;
  const std::vector<int> x = random_ints(rows * columns, -100, 100);
  std::vector<int> sums(rows, 0), largest(rows, -1000), scans(rows * columns);
  for (int i = 0; i < rows * columns; ++i) {
    scans[i] = sums[i / columns];
    sums[i / columns] += x[i];
    largest[i / columns] = x[i] > largest[i / columns] ? x[i] : largest[i / columns];
  }
  DeviceArray<int> device_x(x), device_sums(rows), device_largest(rows),
      device_scans(rows * columns);
  rows_by_warp<<<2, 96>>>(device_x.data(), columns, device_sums.data(), device_largest.data(),
                          device_scans.data());
  expect_equal("sums", device_sums.values(), sums);
  expect_equal("largest", device_largest.values(), largest);
  expect_equal("scans", device_scans.values(), scans);
  return verdict();
}
