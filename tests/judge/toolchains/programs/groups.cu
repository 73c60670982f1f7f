// Cooperative groups within a block.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// Eight numbers a thread of a block of 8 x 6 about who it is.
__global__ void ranks_kernel(int* out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  auto part = cg::tiled_partition<4>(tile);
  cg::thread_block_tile<4> bare = part;
  cg::thread_group dynamic = cg::tiled_partition(block, 32);
  int* mine = out + 8 * block.thread_rank();
  mine[0] = block.size() * 100 + block.group_index().x;
  mine[1] = block.thread_index().y * 100 + block.dim_threads().x;
  mine[2] = tile.meta_group_rank() * 100 + tile.meta_group_size();
  mine[3] = tile.thread_rank() * 100 + tile.num_threads();
  mine[4] = part.meta_group_rank() * 100 + part.meta_group_size();
  mine[5] = bare.thread_rank() * 100 + bare.meta_group_rank();
  mine[6] = (int)dynamic.thread_rank() * 100 + (int)dynamic.size();
  mine[7] = cg::thread_rank(tile) * 100 + (int)cg::group_size(block);
  cg::sync(dynamic);
  dynamic.sync();
  cg::thread_group any = block;
  any.sync();
}
extern "C" void ranks(int* out) { ranks_kernel<<<1, dim3(8, 6)>>>(out); }

struct Point {
  double x, y, z;
};
// Ten numbers a thread: what a tile of eight exchanges and votes.
__global__ void tile_kernel(const int* x, int* out) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int t = threadIdx.x, v = x[t];
  int* mine = out + 10 * t;
  mine[0] = tile.shfl(v, 3);
  mine[1] = tile.shfl_up(v, 2);
  mine[2] = tile.shfl_down(v, 3);
  mine[3] = tile.shfl_xor(v, 5);
  mine[4] = tile.any(v > 40) * 10 + tile.all(v > 2);
  mine[5] = tile.ballot(v & 1);
  mine[6] = tile.match_any(v & 3);
  int are_equal = 0;
  mine[7] = tile.match_all(v & 64, are_equal);
  mine[7] += 1000 * are_equal;
  const Point p = tile.shfl(Point{v * 0.5, v * 2.0, 1.0}, 6);
  mine[8] = (int)(p.x + p.y + p.z);
  mine[9] = tile.shfl((short)v, 1);
}
extern "C" void tile(const int* x, int* out) { tile_kernel<<<1, 64>>>(x, out); }

// Eight numbers a thread: reductions and scans of a tile.
__global__ void reduce_kernel(const int* x, int* out) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int t = threadIdx.x, v = x[t];
  int* mine = out + 8 * t;
  mine[0] = cg::reduce(tile, v, cg::plus<int>());
  mine[1] = cg::reduce(tile, v, cg::less<int>());
  mine[2] = cg::reduce(tile, v, cg::greater<int>());
  mine[3] = cg::reduce(tile, v, cg::bit_xor<int>());
  mine[4] = cg::inclusive_scan(tile, v);
  mine[5] = cg::exclusive_scan(tile, v);
  mine[6] = cg::inclusive_scan(tile, v, cg::greater<int>());
  mine[7] = (int)cg::reduce(tile, v * 0.5, [](double a, double b) { return a + b; });
}
extern "C" void reduce(const int* x, int* out) { reduce_kernel<<<1, 64>>>(x, out); }

// Twelve numbers for each thread with an odd value, -1 for the others.
__global__ void coalesced_kernel(const int* x, int* out) {
  const int t = threadIdx.x, v = x[t];
  if (v & 1) {
    cg::coalesced_group group = cg::coalesced_threads();
    int* mine = out + 12 * t;
    mine[0] = group.thread_rank() * 100 + group.size();
    mine[1] = cg::reduce(group, v, cg::plus<int>());
    mine[2] = cg::inclusive_scan(group, v);
    mine[3] = cg::exclusive_scan(group, v);
    mine[4] = group.shfl(v, group.size() - 1);
    mine[5] = group.shfl_up(v, 2);
    mine[6] = group.shfl_down(v, 1);
    mine[7] = group.ballot(v > 25);
    mine[8] = group.any(v == 1) * 10 + group.all(v > 0);
    auto part = cg::tiled_partition(group, 4);
    mine[9] = part.thread_rank() * 1000 + part.size() * 100 + part.meta_group_rank() * 10 +
              part.meta_group_size();
    mine[10] = cg::reduce(part, v, cg::greater<int>());
    mine[11] = group.match_any(v % 3);
  }
}
extern "C" void coalesced(const int* x, int* out) { coalesced_kernel<<<1, 64>>>(x, out); }

// Six numbers a thread: parts of a tile by label and by predicate.
__global__ void partition_kernel(const int* x, int* out) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int t = threadIdx.x, v = x[t];
  auto same = cg::labeled_partition(tile, v % 5);
  auto side = cg::binary_partition(tile, v > 20);
  int* mine = out + 6 * t;
  mine[0] = same.size() * 100 + same.thread_rank();
  mine[1] = same.meta_group_rank() * 100 + same.meta_group_size();
  mine[2] = cg::reduce(same, v, cg::plus<int>());
  mine[3] = side.size() * 100 + side.meta_group_rank() * 10 + side.meta_group_size();
  mine[4] = cg::reduce(side, v, cg::plus<int>());
  mine[5] = cg::invoke_one_broadcast(same, [&] { return (int)same.size() + v % 5; });
}
extern "C" void partition(const int* x, int* out) { partition_kernel<<<1, 64>>>(x, out); }

// One atomic operation for the threads that meet.
__device__ int add_one_each(int* counter) {
  cg::coalesced_group group = cg::coalesced_threads();
  int first = 0;
  if (group.thread_rank() == 0) first = atomicAdd(counter, (int)group.size());
  return group.shfl(first, 0) + group.thread_rank();
}
__global__ void filter_kernel(const int* x, int* out, int* counter, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (x[i] > 0) out[add_one_each(counter)] = x[i];
}
extern "C" void filter(const int* x, int* out, int* counter, int n) {
  filter_kernel<<<3, 96>>>(x, out, counter, n);
}

// A block that copies in the background, and a barrier in two parts.
__global__ void copy_kernel(const float* x, float* y, int n) {
  __shared__ alignas(16) float tile[256];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, x, sizeof(float) * n);
  cg::wait(block);
  auto token = block.barrier_arrive();
  block.barrier_wait(std::move(token));
  for (int i = block.thread_rank(); i < n; i += block.size()) y[i] = tile[n - 1 - i];
  cg::memcpy_async(block, tile, 256, x, n);
  cg::wait_prior<0>(block);
  for (int i = block.thread_rank(); i < n; i += block.size()) y[n + i] = tile[i];
  cg::invoke_one(block, [&] { y[2 * n] = 5.0f; });
}
extern "C" void copy(const float* x, float* y, int n) { copy_kernel<<<1, 64>>>(x, y, n); }

// Helpers that take any group.
template <class Group>
__device__ int sum_of(Group group, int* shared, int v) {
  for (int half = group.size() / 2; half > 0; half /= 2) {
    shared[group.thread_rank()] = v;
    group.sync();
    if ((int)group.thread_rank() < half) v += shared[group.thread_rank() + half];
    group.sync();
  }
  return v;
}
__global__ void any_group_kernel(const int* x, int* out) {
  __shared__ int shared[128];
  cg::thread_group block = cg::this_thread_block();
  const int sum = sum_of(block, shared, x[threadIdx.x]);
  if (threadIdx.x == 0) out[0] = sum;
  cg::thread_group part = cg::tiled_partition(cg::this_thread_block(), 16);
  const int first = threadIdx.x / 16 * 16;
  const int of_part = sum_of(part, shared + first, x[threadIdx.x]);
  if (part.thread_rank() == 0) out[1 + threadIdx.x / 16] = of_part;
}
extern "C" void any_group(const int* x, int* out) { any_group_kernel<<<1, 128>>>(x, out); }
