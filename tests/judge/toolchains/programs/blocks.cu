// Kernels whose threads wait for their block.
#include <cuda_runtime.h>

#define TILE 16

__global__ void transpose_kernel(const float* x, float* y, int rows, int columns) {
  __shared__ float tile[TILE][TILE + 1];
  int c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
  if (r < rows && c < columns) tile[threadIdx.y][threadIdx.x] = x[r * columns + c];
  __syncthreads();
  c = blockIdx.y * TILE + threadIdx.x;
  r = blockIdx.x * TILE + threadIdx.y;
  if (r < columns && c < rows) y[r * rows + c] = tile[threadIdx.x][threadIdx.y];
}
extern "C" void transpose(const float* x, float* y, int rows, int columns) {
  dim3 grid((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE), block(TILE, TILE);
  transpose_kernel<<<grid, block>>>(x, y, rows, columns);
}

extern __shared__ float pool[];
__device__ float sum_of_pool(int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += pool[i];
  return sum;
}
__global__ void dynamic_at_namespace_scope(const float* x, float* y) {
  pool[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sum_of_pool(blockDim.x);
}
template <typename T>
__global__ void dynamic_in_function(const T* x, T* y) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* values = reinterpret_cast<T*>(bytes);
  const unsigned t = threadIdx.x;
  values[t] = x[t];
  __syncthreads();
  y[t] = values[blockDim.x - 1 - t];
}
extern "C" void row_sums(const float* x, float* y, int rows, int columns) {
  dynamic_at_namespace_scope<<<rows, columns, columns * sizeof(float)>>>(x, y);
}
extern "C" void reversed(const double* x, double* y, int n) { dynamic_in_function<double><<<1, n, n * sizeof(double)>>>(x, y); }
extern "C" int large_shared(const double* x, double* y, int n, int ask) {
  if (ask) cudaFuncSetAttribute(dynamic_in_function<double>, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024);
  dynamic_in_function<double><<<1, n, 64 * 1024>>>(x, y);
  return cudaGetLastError();
}

__global__ void votes_kernel(const int* x, int* y) {
  const int v = x[threadIdx.x];
  const int positive = __syncthreads_count(v > 0), all = __syncthreads_and(v != 0), any = __syncthreads_or(v == 7);
  y[threadIdx.x] = positive * 100 + all * 10 + any;
}
extern "C" void votes(const int* x, int* y, int n) { votes_kernel<<<1, n>>>(x, y); }

__global__ void early_exit_kernel(const int* x, int* y, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  if (t >= n) return;
  s[t] = x[t] * 2;
  __syncthreads();
  y[t] = s[n - 1 - t];
}
extern "C" void early_exit(const int* x, int* y, int n) { early_exit_kernel<<<1, 256>>>(x, y, n); }

// The last block to finish adds up what the others have left.
__device__ unsigned finished;
__global__ void sum_kernel(const float* x, float* partial, float* y, int n) {
  __shared__ float s[128];
  __shared__ bool is_last;
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x) sum += x[i];
  s[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) {
    partial[blockIdx.x] = s[0];
    __threadfence();
    is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && t == 0) {
    sum = 0.0f;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
    *y = sum;
  }
}
extern "C" void sum(const float* x, float* partial, float* y, int n) { sum_kernel<<<20, 128>>>(x, partial, y, n); }

// A lock that the threads of a block fight for: whoever holds it is put aside at a barrier's price.
__device__ int lock;
__device__ int guarded;
__global__ void lock_kernel(int rounds) {
  for (int r = 0; r < rounds; ++r) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    int seen = guarded;
    __nanosleep(10);
    guarded = seen + 1;
    __threadfence();
    atomicExch(&lock, 0);
  }
  __syncthreads();
}
extern "C" int with_lock(int blocks, int threads, int rounds) {
  int zero = 0, result = 0;
  cudaMemcpyToSymbol(guarded, &zero, sizeof zero);
  lock_kernel<<<blocks, threads>>>(rounds);
  cudaMemcpyFromSymbol(&result, guarded, sizeof result);
  return result;
}

// A block waits for the one before it.
__global__ void chain_kernel(int* flags) {
  if (threadIdx.x == 0 && blockIdx.x > 0)
    while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) {
    }
  __syncthreads();
  if (threadIdx.x == 1) flags[blockIdx.x] = blockIdx.x == 0 ? 1 : flags[blockIdx.x - 1] + 1;
}
extern "C" void chain(int* flags, int n) { chain_kernel<<<n, 32>>>(flags); }

__global__ void reads_unwritten_kernel(float* y) {
  __shared__ float s[32];
  if (threadIdx.x > 0) s[threadIdx.x] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x];
}
extern "C" void reads_unwritten(float* y) { reads_unwritten_kernel<<<1, 32>>>(y); }

__global__ void deadlock_kernel(int* y) {
  if (threadIdx.x % 2) __syncthreads();
  if (threadIdx.x % 2 == 0) __syncwarp();
  y[threadIdx.x] = 1;
  __syncthreads();
}
__global__ void warp_deadlock_kernel(int* y) {
  if (threadIdx.x < 5) y[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
  else __syncthreads();
}
__global__ void mixed_barriers_kernel(int* y) {
  if (threadIdx.x < 5) __syncthreads();
  else y[threadIdx.x] = __syncthreads_count(1);
}
__global__ void mixed_operations_kernel(int* y) {
  if (threadIdx.x < 5) y[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
  else y[threadIdx.x] = __any_sync(0xffffffffu, 1);
}
__global__ void foreign_mask_kernel(int* y) { y[threadIdx.x] = __ballot_sync(0x1u, 1); }
extern "C" int broken(int which, int* y, int threads) {
  switch (which) {
    case 0: deadlock_kernel<<<3, threads>>>(y); break;
    case 1: warp_deadlock_kernel<<<1, threads>>>(y); break;
    case 2: mixed_barriers_kernel<<<1, threads>>>(y); break;
    case 3: mixed_operations_kernel<<<1, threads>>>(y); break;
    case 4: foreign_mask_kernel<<<1, threads>>>(y); break;
    case 5: deadlock_kernel<<<1, 2048>>>(y); break;
    case 6: deadlock_kernel<<<0, 32>>>(y); break;
    case 7: deadlock_kernel<<<dim3(1, 70000), 32>>>(y); break;
    case 8: deadlock_kernel<<<1, dim3(1, 1, 65)>>>(y); break;
    case 9: deadlock_kernel<<<1, 32, 300000>>>(y); break;
  }
  return cudaGetLastError();
}
