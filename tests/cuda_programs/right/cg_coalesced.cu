// Lanes that took the same branch form a group, count themselves and share one atomic; lanes are
// also partitioned by a label.
#include "../program.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void filter(const int* x, int n, int* out, int* counter, int* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || x[i] % 3 != 0) return;
  const cg::coalesced_group group = cg::coalesced_threads();
  int first = 0;
  if (group.thread_rank() == 0) first = atomicAdd(counter, group.size());
  out[group.shfl(first, 0) + group.thread_rank()] = x[i];
  const int total = cg::reduce(group, x[i], cg::plus<int>());
  if (group.thread_rank() == group.size() - 1) atomicAdd(sum, total);
}

__global__ void by_label(const int* labels, int* sizes, int* ranks) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto group = cg::labeled_partition(warp, labels[threadIdx.x]);
  sizes[threadIdx.x] = group.size();
  ranks[threadIdx.x] = group.thread_rank();
}

int main() {
  const int n = 1000;
  std::vector<int> x(n), times(3 * n, 0);
  int count = 0, total = 0;
  for (int i = 0; i < n; ++i) {
    x[i] = i * 7 % n;
    count += x[i] % 3 == 0;
    total += x[i] % 3 ? 0 : x[i];
  }
  DeviceArray<int> device_x(x), out(count), counter(std::vector<int>(1, 0)),
      sum(std::vector<int>(1, 0));
  filter<<<8, 128>>>(device_x.data(), n, out.data(), counter.data(), sum.data());
  expect_equal("count", counter.values()[0], count);
  expect_equal("sum", sum.values()[0], total);
  for (int value : out.values()) ++times[value];
  for (int i = 0; i < n; ++i) expect_equal("times", times[i], (int)(i % 3 == 0));

  const std::vector<int> labels = random_ints(64, 0, 4);
  std::vector<int> sizes(64, 0), ranks(64, 0);
  for (int i = 0; i < 64; ++i)
    for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
      sizes[i] += labels[k] == labels[i];
      ranks[i] += k < i && labels[k] == labels[i];
    }
  DeviceArray<int> device_labels(labels), device_sizes(64), device_ranks(64);
  by_label<<<1, 64>>>(device_labels.data(), device_sizes.data(), device_ranks.data());
  expect_equal("sizes", device_sizes.values(), sizes);
  expect_equal("ranks", device_ranks.values(), ranks);
  return verdict();
}
