// What benchmarks/cpu_device.py measures. Every launcher takes two inputs, an output and the number of
// floats in each, a multiple of 1024; matrices are 1024 x 1024.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define FULL 0xffffffffu
#define LAUNCHER(name) extern "C" void name(const float* a, const float* b, float* c, int n)

__device__ __forceinline__ float gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

__global__ void add_kernel(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
LAUNCHER(add) { add_kernel<<<(n + 255) / 256, 256>>>(a, b, c, n); }

__global__ void add_by_grid_kernel(const float* a, const float* b, float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) c[i] = a[i] + b[i];
}
LAUNCHER(add_by_grid) { add_by_grid_kernel<<<528, 256>>>(a, b, c, n); }

__global__ void bias_gelu_kernel(const float* x, const float* bias, float* y, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  size_t i = (size_t)blockIdx.y * columns + column;
  if (column < columns) y[i] = gelu(x[i] + bias[column]);
}
LAUNCHER(bias_gelu) { bias_gelu_kernel<<<dim3(4, n / 1024), 256>>>(a, b, c, 1024); }

__global__ void gelu_half_kernel(const half* x, half* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2half(gelu(__half2float(x[i])));
}
LAUNCHER(gelu_half) { gelu_half_kernel<<<n / 256, 256>>>((const half*)a, (half*)c, n); }

__global__ void gelu_bfloat16_kernel(const __nv_bfloat16* x, __nv_bfloat16* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2bfloat16(gelu(__bfloat162float(x[i])));
}
LAUNCHER(gelu_bfloat16) { gelu_bfloat16_kernel<<<n / 256, 256>>>((const __nv_bfloat16*)a, (__nv_bfloat16*)c, n); }

__global__ void sine_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
LAUNCHER(sine) { sine_kernel<<<n / 256, 256>>>(a, c, n); }

// Softmax of rows of 1024, by a tree in shared memory.
__global__ void softmax_by_tree_kernel(const float* x, float* y, int columns) {
  __shared__ float tree[256];
  const float* from = x + (size_t)blockIdx.x * columns;
  float* to = y + (size_t)blockIdx.x * columns;
  const int t = threadIdx.x;
  float largest = -INFINITY;
  for (int i = t; i < columns; i += blockDim.x) largest = fmaxf(largest, from[i]);
  tree[t] = largest;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) tree[t] = fmaxf(tree[t], tree[t + s]);
    __syncthreads();
  }
  largest = tree[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = t; i < columns; i += blockDim.x) {
    const float e = __expf(from[i] - largest);
    to[i] = e;
    sum += e;
  }
  tree[t] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) tree[t] += tree[t + s];
    __syncthreads();
  }
  const float scale = 1.0f / tree[0];
  for (int i = t; i < columns; i += blockDim.x) to[i] *= scale;
}
LAUNCHER(softmax_by_tree) { softmax_by_tree_kernel<<<n / 1024, 256>>>(a, c, 1024); }

// The same by shuffles within warps, and shared memory between them.
struct Largest {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
template <typename Operation>
__device__ __forceinline__ float warp_reduce(float v, Operation combine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v = combine(v, __shfl_xor_sync(FULL, v, offset));
  return v;
}
__global__ void softmax_by_shuffles_kernel(const float* x, float* y, int columns) {
  __shared__ float partial[32], whole;
  const float* from = x + (size_t)blockIdx.x * columns;
  float* to = y + (size_t)blockIdx.x * columns;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, from[i]);
  largest = warp_reduce(largest, Largest());
  if (lane == 0) partial[warp] = largest;
  __syncthreads();
  if (warp == 0) {
    float v = lane < blockDim.x / 32 ? partial[lane] : -INFINITY;
    v = warp_reduce(v, Largest());
    if (lane == 0) whole = v;
  }
  __syncthreads();
  largest = whole;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float e = __expf(from[i] - largest);
    to[i] = e;
    sum += e;
  }
  sum = warp_reduce(sum, Sum());
  __syncthreads();
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    float v = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
    v = warp_reduce(v, Sum());
    if (lane == 0) whole = 1.0f / v;
  }
  __syncthreads();
  const float scale = whole;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) to[i] *= scale;
}
LAUNCHER(softmax_by_shuffles) { softmax_by_shuffles_kernel<<<n / 1024, 256>>>(a, c, 1024); }

// A matrix product, one element a thread.
__global__ void matmul_by_tiles_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < n; k0 += 16) {
    left[ty][tx] = a[row * n + k0 + tx];
    right[ty][tx] = b[(k0 + ty) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += left[ty][k] * right[k][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
LAUNCHER(matmul_by_tiles) { matmul_by_tiles_kernel<<<dim3(64, 64), dim3(16, 16)>>>(a, b, c, 1024); }

// 4 x 4 elements a thread, kept in registers on a GPU.
__global__ void matmul_by_registers_kernel(const float* a, const float* b, float* c, int n) {
  constexpr int tile = 64, depth = 16;
  __shared__ float left[depth][tile], right[depth][tile];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int first_row = blockIdx.y * tile, first_column = blockIdx.x * tile;
  float sums[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += depth) {
    for (int i = t; i < tile * depth; i += 256) left[i % depth][i / depth] = a[(first_row + i / depth) * n + k0 + i % depth];
    for (int i = t; i < tile * depth; i += 256) right[i / tile][i % tile] = b[(k0 + i / tile) * n + first_column + i % tile];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < depth; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] += left[k][ty * 4 + i] * right[k][tx * 4 + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(first_row + ty * 4 + i) * n + first_column + tx * 4 + j] = sums[i][j];
}
LAUNCHER(matmul_by_registers) { matmul_by_registers_kernel<<<dim3(16, 16), 256>>>(a, b, c, 1024); }

// What one wait costs: `n` waits of a block of `threads`.
__global__ void barriers_kernel(float* x, int n) {
  for (int i = 0; i < n; ++i) __syncthreads();
  x[threadIdx.x] = n;
}
__global__ void shuffles_kernel(float* x, int n) {
  float v = threadIdx.x;
  for (int i = 0; i < n; ++i) v += __shfl_xor_sync(FULL, v, 1);
  x[threadIdx.x] = v;
}
extern "C" void barriers(float* x, int threads, int n) { barriers_kernel<<<1, threads>>>(x, n); }
extern "C" void shuffles(float* x, int threads, int n) { shuffles_kernel<<<1, threads>>>(x, n); }
