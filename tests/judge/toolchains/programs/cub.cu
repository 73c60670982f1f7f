// CUB's block and warp primitives.
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/cub.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

constexpr int threads = 128;
using SharedReduce = cub::BlockReduce<float, threads>;

// out[b] for each block: sum, maximum, sum of the first n, sum of four items a thread
__global__ void reduce_kernel(const float* x, float* out, int n) {
  __shared__ typename SharedReduce::TempStorage storage;
  const float v = x[blockIdx.x * threads + threadIdx.x];
  const float sum = SharedReduce(storage).Sum(v);
  __syncthreads();
  const float largest = SharedReduce(storage).Reduce(v, cuda::maximum<>{});
  __syncthreads();
  const float first = SharedReduce(storage).Sum(v, n);
  __syncthreads();
  float items[4] = {v, 1.0f, -v, 2 * v};
  const float of_four = SharedReduce(storage).Sum(items);
  if (threadIdx.x == 0) {
    float* mine = out + 4 * blockIdx.x;
    mine[0] = sum, mine[1] = largest, mine[2] = first, mine[3] = of_four;
  }
}
extern "C" void block_reduce(const float* x, float* out, int n) {
  reduce_kernel<<<2, threads>>>(x, out, n);
}

struct Longest {
  int length, at;
};
struct Longer {
  __device__ Longest operator()(const Longest& a, const Longest& b) const {
    return b.length > a.length ? b : a;
  }
};
// A block of 16 x 8 threads, another algorithm, a struct, an operator of the program's, no storage.
__global__ void reduce_2d_kernel(const int* x, int* out) {
  using Reduce = cub::BlockReduce<Longest, 16, cub::BLOCK_REDUCE_RAKING, 8>;
  const int i = threadIdx.y * 16 + threadIdx.x;
  const Longest longest = Reduce().Reduce(Longest{x[i], i}, Longer());
  if (i == 0) out[0] = longest.length, out[1] = longest.at;
}
extern "C" void block_reduce_2d(const int* x, int* out) {
  reduce_2d_kernel<<<1, dim3(16, 8)>>>(x, out);
}

struct Running {
  int total;
  __device__ int operator()(int aggregate) {
    const int old = total;
    total += aggregate;
    return old;
  }
};
// out: ten rows of threads
__global__ void scan_kernel(const int* x, int* out) {
  using Scan = cub::BlockScan<int, threads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ Scan::TempStorage storage;
  const int t = threadIdx.x;
  int v = x[t], y = 0, all = 0;
  Scan(storage).InclusiveSum(v, y);
  out[t] = y;
  __syncthreads();
  Scan(storage).ExclusiveSum(v, y, all);
  out[threads + t] = y;
  out[2 * threads + t] = all;
  __syncthreads();
  Scan(storage).InclusiveScan(v, y, cuda::maximum<>{}, all);
  out[3 * threads + t] = y + 1000 * all;
  __syncthreads();
  Scan(storage).ExclusiveScan(v, y, -5, cuda::minimum<>{});
  out[4 * threads + t] = y;
  __syncthreads();
  Running running{100};
  for (int round = 0; round < 2; ++round) {
    Scan(storage).ExclusiveSum(v, y, running);
    __syncthreads();
  }
  out[5 * threads + t] = y;
  Scan(storage).InclusiveSum(v, y, running);
  out[6 * threads + t] = y;
  __syncthreads();
  v = y = x[t];
  Scan(storage).ExclusiveSum(v, v);
  out[7 * threads + t] = v;
  __syncthreads();
  Scan(storage).ExclusiveScan(y, v, 7, cuda::std::plus<>{}, all);
  out[8 * threads + t] = v;
  out[9 * threads + t] = all;
}
extern "C" void block_scan(const int* x, int* out) { scan_kernel<<<1, threads>>>(x, out); }

// Four consecutive items a thread, loaded and stored by primitives that share their storage.
__global__ void scan_items_kernel(const int* x, int* inclusive, int* exclusive, int* all, int n) {
  using Load = cub::BlockLoad<int, threads, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, threads, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, threads>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } storage;
  int items[4], sums[4], aggregate;
  Load(storage.load).Load(x, items, n, 0);
  __syncthreads();
  Scan(storage.scan).InclusiveSum(items, sums, aggregate);
  if (threadIdx.x == 5) *all = aggregate;
  __syncthreads();
  Store(storage.store).Store(inclusive, sums, n);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(items, items);
  __syncthreads();
  Store(storage.store).Store(exclusive, items, n);
  __syncthreads();
  Running running{10};
  Load(storage.load).Load(x, items, n, 0);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(items, sums, running);
  if (threadIdx.x == 1) all[1] = sums[3];
}
extern "C" void block_scan_items(const int* x, int* inclusive, int* exclusive, int* all, int n) {
  scan_items_kernel<<<1, threads>>>(x, inclusive, exclusive, all, n);
}

__global__ void striped_kernel(const int* x, int* out) {
  using Load = cub::BlockLoad<int, 32, 3, cub::BLOCK_LOAD_STRIPED>;
  using Store = cub::BlockStore<int, 32, 3>;
  __shared__ Load::TempStorage load;
  __shared__ Store::TempStorage store;
  int items[3];
  Load(load).Load(x, items);
  Store(store).Store(out, items);
}
extern "C" void striped(const int* x, int* out) { striped_kernel<<<1, 32>>>(x, out); }

// One row of 64 for each primitive.
template <int width>
__global__ void warps_kernel(const int* x, int* out) {
  using Reduce = cub::WarpReduce<int, width>;
  using Scan = cub::WarpScan<int, width>;
  constexpr int num = 64 / width;
  __shared__ typename Reduce::TempStorage reduce[num];
  __shared__ typename Scan::TempStorage scan[num];
  const int t = threadIdx.x, warp = t / width, v = x[t];
  int y = 0, z = 0;
  y = Reduce(reduce[warp]).Sum(v);
  if (t % width == 0) out[t] = y;
  __syncwarp();
  y = Reduce(reduce[warp]).Reduce(v, cuda::maximum<>{}, width / 2 + 1);
  if (t % width == 0) out[64 + t] = y;
  __syncwarp();
  y = Reduce(reduce[warp]).HeadSegmentedSum(v, v % 3 == 0);
  if (t % width == 0 || v % 3 == 0) out[128 + t] = y;
  __syncwarp();
  y = Reduce(reduce[warp]).TailSegmentedSum(v, v % 3 == 0);
  if (t % width == 0 || x[t - 1] % 3 == 0) out[192 + t] = y;
  Scan(scan[warp]).InclusiveSum(v, y, z);
  out[256 + t] = y;
  out[320 + t] = z;
  __syncwarp();
  Scan(scan[warp]).ExclusiveSum(v, y);
  out[384 + t] = y;
  __syncwarp();
  Scan(scan[warp]).ExclusiveScan(v, y, -1, cuda::maximum<>{});
  out[448 + t] = y;
  __syncwarp();
  Scan(scan[warp]).InclusiveScan(v, y, cuda::minimum<>{});
  out[512 + t] = y;
  out[576 + t] = Scan(scan[warp]).Broadcast(v, width - 1);
}
extern "C" void warps_of_32(const int* x, int* out) { warps_kernel<32><<<1, 64>>>(x, out); }
extern "C" void warps_of_8(const int* x, int* out) { warps_kernel<8><<<1, 64>>>(x, out); }

struct Moments {
  double sum, squares;
};
__global__ void moments_kernel(const double* x, double* out) {
  using Reduce = cub::WarpReduce<Moments>;
  __shared__ Reduce::TempStorage storage;
  const double v = x[threadIdx.x];
  const Moments all = Reduce(storage).Reduce(Moments{v, v * v}, [](Moments a, Moments b) {
    return Moments{a.sum + b.sum, a.squares + b.squares};
  });
  if (threadIdx.x == 0) out[0] = all.sum, out[1] = all.squares;
}
extern "C" void moments(const double* x, double* out) { moments_kernel<<<1, 32>>>(x, out); }
