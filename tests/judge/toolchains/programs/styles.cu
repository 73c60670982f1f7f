// The many ways in which people write the same things.
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

#include <algorithm>
#include <cfloat>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define FETCH_FLOAT4(pointer) (reinterpret_cast<float4*>(&(pointer))[0])
#define CHECK(call)                                                                     \
  do {                                                                                  \
    cudaError_t status = (call);                                                        \
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));    \
  } while (0)

using namespace std;

// A register-tiled matrix product.
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
    sgemm_tiled(int M, int N, int K, float alpha, const float* __restrict__ A, const float* __restrict__ B, float beta, float* C) {
  const uint cRow = blockIdx.y, cCol = blockIdx.x;
  const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
  __shared__ float As[BM * BK];
  __shared__ __align__(16) float Bs[BK * BN];
  float threadResults[TM * TN] = {0.0f}, regM[TM] = {0.0f}, regN[TN] = {0.0f};
  constexpr int numThreads = (BM * BN) / (TM * TN);
  for (uint bk = 0; bk < K; bk += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += numThreads) {
      const uint r = cRow * BM + i / BK, c = bk + i % BK;
      As[i] = (r < M && c < K) ? A[r * K + c] : 0.f;
    }
    for (int i = threadIdx.x; i < BK * BN; i += numThreads) {
      const uint r = bk + i / BN, c = cCol * BN + i % BN;
      Bs[i] = (r < K && c < N) ? __ldg(B + r * N + c) : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      for (int i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + k];
      *reinterpret_cast<float4*>(regN) = FETCH_FLOAT4(Bs[k * BN + threadCol * TN]);
#pragma unroll 4
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) threadResults[i * TN + j] += regM[i] * regN[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) {
      const int r = cRow * BM + threadRow * TM + i, c = cCol * BN + threadCol * TN + j;
      if (r < M && c < N) C[r * N + c] = alpha * threadResults[i * TN + j] + beta * C[r * N + c];
    }
}
extern "C" void sgemm(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  const int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;
  const dim3 gridDim{(unsigned)CEIL_DIV(N, BN), (unsigned)CEIL_DIV(M, BM)};
  dim3 blockDim((BM * BN) / (TM * TN));
  sgemm_tiled<BM, BN, BK, TM, TN>
      <<<gridDim, blockDim, 0, stream>>>(M, N, K, 1.0f, A, B, 0.0f, C);
  CHECK(cudaGetLastError());
}

// Welford's algorithm over a warp, with a struct and operators.
struct Moments {
  float mean, m2, count;
};
__device__ __forceinline__ Moments combine(const Moments& a, const Moments& b) {
  const float n = a.count + b.count;
  if (n == 0.f) return a;
  const float d = b.mean - a.mean;
  return {a.mean + d * b.count / n, a.m2 + b.m2 + d * d * a.count * b.count / n, n};
}
template <typename scalar_t, bool kAffine>
static __global__ void layer_norm(scalar_t* __restrict__ out, const scalar_t* __restrict__ in, const scalar_t* gamma, int columns, float eps) {
  extern __shared__ char raw[];
  auto* partial = reinterpret_cast<Moments*>(raw);
  Moments own{0.f, 0.f, 0.f};
  const scalar_t* row = in + static_cast<int64_t>(blockIdx.x) * columns;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    own.count += 1.f;
    const float d = row[c] - own.mean;
    own.mean += d / own.count;
    own.m2 += d * (row[c] - own.mean);
  }
  for (int mask = warpSize >> 1; mask > 0; mask >>= 1) {
    Moments other{__shfl_xor_sync(0xffffffffu, own.mean, mask), __shfl_xor_sync(0xffffffffu, own.m2, mask),
                  __shfl_xor_sync(0xffffffffu, own.count, mask, warpSize)};
    own = combine(own, other);
  }
  const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  if (lane == 0) partial[warp] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < static_cast<int>(blockDim.x) / warpSize; ++w) partial[0] = combine(partial[0], partial[w]);
  }
  __syncthreads();
  const float mean = partial[0].mean, scale = rsqrtf(partial[0].m2 / columns + eps);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float v = (row[c] - mean) * scale;
    if constexpr (kAffine) v *= gamma[c];
    out[static_cast<size_t>(blockIdx.x) * columns + c] = v;
  }
}
extern "C" int layernorm(float* out, const float* in, const float* gamma, int rows, int columns) {
  const int threads = 128;
  const size_t bytes = threads / 32 * sizeof(Moments);
  if (gamma != nullptr)
    layer_norm<float, true><<<rows, threads, bytes>>>(out, in, gamma, columns, 1e-5f);
  else
    layer_norm<float, false><<<rows, threads, bytes>>>(out, in, nullptr, columns, 1e-5f);
  return static_cast<int>(cudaGetLastError());
}

// A class with device members, a typedef'd functor, a nested namespace, an anonymous one, default arguments.
namespace {
template <class T>
class Accessor {
 public:
  __host__ __device__ Accessor(T* data, int stride) : data_(data), stride_(stride) {}
  __device__ T& operator()(int row, int column) const { return data_[row * stride_ + column]; }

 private:
  T* data_;
  int stride_;
};
enum class Activation { kRelu, kLeaky };
template <Activation A>
__device__ inline float activate(float x, float slope = 0.1f) {
  if (A == Activation::kRelu) return fmaxf(x, 0.f);
  return x > 0 ? x : x * slope;
}
template <Activation A>
__global__ void activate_2d(Accessor<float> x, int rows, int columns) {
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < rows; r += gridDim.y * blockDim.y)
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < columns; c += gridDim.x * blockDim.x) x(r, c) = activate<A>(x(r, c));
}
}  // namespace
extern "C" void leaky(float* x, int rows, int columns, bool relu) {
  const dim3 block(16, 8);
  const auto grid = dim3(2, 3);
  Accessor<float> accessor(x, columns);
  if (relu) {
    activate_2d<Activation::kRelu><<<grid, block>>>(accessor, rows, columns);
  } else {
    activate_2d<Activation::kLeaky><<<grid, block>>>(accessor, rows, columns);
  }
}

__device__ __noinline__ float slow_path(float x) { return x < 0.f ? std::numeric_limits<float>::lowest() : -FLT_MAX; }
__device__ float atomicMaxFloat(float* address, float value) {
  int* as_int = (int*)address;
  int old = *as_int, assumed;
  do {
    assumed = old;
    old = atomicCAS(as_int, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}
extern "C" __global__ void max_kernel(const float* x, float* y, int n) {
  const int stride = blockDim.x * gridDim.x;
  float largest = slow_path(1.f);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) largest = std::max(largest, x[i]);
  atomicMaxFloat(y, largest);
}
extern "C" void maximum(const float* x, float* y, int n) {
  float start = -INFINITY;
  cudaMemcpy(y, &start, sizeof(float), cudaMemcpyHostToDevice);
  int blocks = min(CEIL_DIV(n, 256), 8);
  max_kernel<<<blocks, 256>>>(x, y, n);
  cudaDeviceSynchronize();
}
