// Kernels whose lanes exchange values.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__inline__ __device__ float warp_sum(float v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}
template <int Threads>
__global__ void softmax_kernel(const float* __restrict__ x, float* __restrict__ y, int columns) {
  __shared__ float partial[32];
  const float* row = x + (size_t)blockIdx.x * columns;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += Threads) largest = fmaxf(largest, row[c]);
  for (int offset = 16; offset; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = largest;
  __syncthreads();
  largest = partial[0];
  for (int w = 1; w < Threads / 32; ++w) largest = fmaxf(largest, partial[w]);
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += Threads) sum += __expf(row[c] - largest);
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int w = 0; w < Threads / 32; ++w) sum += partial[w];
  for (int c = threadIdx.x; c < columns; c += Threads) y[(size_t)blockIdx.x * columns + c] = __expf(row[c] - largest) / sum;
}
extern "C" void softmax(const float* x, float* y, int rows, int columns) { softmax_kernel<128><<<rows, 128>>>(x, y, columns); }

__global__ void shuffles_kernel(const int* x, int* y, int n) {
  const int t = threadIdx.x, v = x[t];
  y[0 * n + t] = __shfl_sync(0xffffffffu, v, 3);
  y[1 * n + t] = __shfl_up_sync(0xffffffffu, v, 2);
  y[2 * n + t] = __shfl_down_sync(0xffffffffu, v, 2, 8);
  y[3 * n + t] = __shfl_xor_sync(0xffffffffu, v, 1);
  y[4 * n + t] = (int)__shfl_sync(0xffffffffu, (double)v * 0.5, t + 1, 4);
  y[5 * n + t] = __ballot_sync(0xffffffffu, v > 0);
  y[6 * n + t] = __any_sync(0xffffffffu, v == 9) * 2 + __all_sync(0xffffffffu, v > -100);
  y[7 * n + t] = __match_any_sync(0xffffffffu, v & 3);
  y[8 * n + t] = __reduce_add_sync(0xffffffffu, v) * 1000 + __reduce_max_sync(0xffffffffu, v) * 10 - __reduce_min_sync(0xffffffffu, v);
  int same;
  y[9 * n + t] = __match_all_sync(0xffffffffu, t / 32, &same) == 0xffffffffu && same;
}
extern "C" void shuffles(const int* x, int* y, int n) { shuffles_kernel<<<1, n>>>(x, y, n); }

__global__ void halves_kernel(const int* x, int* y) {
  const int t = threadIdx.x;
  int v = x[t];
  if ((t & 31) < 16) {
    for (int k = 8; k; k >>= 1) v += __shfl_xor_sync(0x0000ffffu, v, k);
  } else {
    v = max(v, __shfl_xor_sync(0xffff0000u, v, 8));
  }
  __syncwarp();
  y[t] = v;
}
extern "C" void halves(const int* x, int* y) { halves_kernel<<<1, 64>>>(x, y); }

__global__ void uneven_kernel(const int* x, int* y) {
  __shared__ int s[128];
  int t = threadIdx.x, warp = t / 32, v = x[t];
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k <= warp; ++k) v += __shfl_xor_sync(0xffffffffu, v, 1 << k);
    s[t] = v;
    __syncthreads();
    v = s[(t + 32) % 128];
    __syncthreads();
  }
  y[t] = v;
}
extern "C" void uneven(const int* x, int* y) { uneven_kernel<<<1, 128>>>(x, y); }

// One atomic a warp for all lanes that are here together.
__device__ int take_places(int* counter) {
  unsigned active = __activemask();
  int leader = __ffs(active) - 1, base = 0, lane = threadIdx.x & 31;
  if (lane == leader) base = atomicAdd(counter, __popc(active));
  base = __shfl_sync(active, base, leader);
  return base + __popc(active & ((1u << lane) - 1));
}
__global__ void compact_kernel(const int* x, int* y, int* counter, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) y[take_places(counter)] = x[i];
}
extern "C" void compact(const int* x, int* y, int* counter, int n) { compact_kernel<<<(n + 63) / 64, 64>>>(x, y, counter, n); }

__global__ void full_active_mask_kernel(int* y) { y[threadIdx.x] = (int)__activemask(); }
extern "C" void full_active_mask(int* y, int n) { full_active_mask_kernel<<<1, n>>>(y); }

__global__ void groups_kernel(const int* x, int* y, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto tile = cg::tiled_partition<8>(warp);
  __shared__ int s[128];
  const int t = block.thread_rank(), v = x[t];
  int sum = v;
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) sum += tile.shfl_xor(sum, offset);
  s[t] = sum;
  block.sync();
  y[0 * n + t] = s[block.size() - 1 - t];
  y[1 * n + t] = warp.shfl(v, 3) + (int)warp.meta_group_rank() * 1000;
  y[2 * n + t] = cg::reduce(tile, v, cg::greater<int>());
  y[3 * n + t] = (int)tile.ballot(v > 0) * 10 + tile.any(v == 9) + (int)tile.thread_rank() * 10000;
  y[4 * n + t] = block.thread_index().x + 10 * block.group_index().x;
  y[5 * n + t] = 0;
  if (v > 0) {
    cg::coalesced_group together = cg::coalesced_threads();
    y[5 * n + t] = together.size() * 100 + together.thread_rank();
  }
  cg::sync(block);
}
extern "C" void groups(const int* x, int* y, int n) { groups_kernel<<<1, n>>>(x, y, n); }
