// Kernels in which no thread waits: indices, templates, memory spaces, vector types, arithmetic.
#include <cuda_runtime.h>

#include "shared_header.cuh"

__constant__ float coefficients[3];
__device__ int counter;
__device__ unsigned long long total = 5;

__device__ int global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void add_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
extern "C" void add(const float* a, const float* b, float* c, int n, cudaStream_t stream) {
  add_kernel<<<(n + 255) / 256, 256, 0, stream>>>(a, b, c, n);
}

__global__ void add4_kernel(const float4* a, const float4* b, float4* c, int n) {
  const int i = global_index();
  if (i >= n) return;
  const float4 x = __ldg(&a[i]), y = b[i];
  c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
extern "C" void add4(const float* a, const float* b, float* c, int n) {
  add4_kernel<<<(n + 63) / 64, 64>>>(reinterpret_cast<const float4*>(a), (const float4*)b, (float4*)c, n);
}

template <typename T, int Factor>
__global__ void __launch_bounds__(128) scale_kernel(T* x, size_t n) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += size_t(blockDim.x) * gridDim.x) x[i] = x[i] * Factor;
}
extern "C" void scale_int(int* x, size_t n) { scale_kernel<int, 3><<<2, 128>>>(x, n); }
extern "C" void scale_double(double* x, size_t n) {
  auto kernel = scale_kernel<double, 2>;
  kernel<<<dim3(4), dim3(32, 1, 1)>>>(x, n);
}

__global__ void where_kernel(int* out) {
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  out[i] = ((((blockIdx.z * 10 + blockIdx.y) * 10 + blockIdx.x) * 10 + threadIdx.z) * 10 + threadIdx.y) * 10 + threadIdx.x;
}
extern "C" void where(int* out) { where_kernel<<<dim3(2, 3, 4), dim3(3, 2, 5)>>>(out); }

__global__ void polynomial_kernel(const float* x, float* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = coefficients[0] + x[i] * (coefficients[1] + x[i] * coefficients[2]);
}
extern "C" int polynomial(const float* x, float* y, int n) {
  const float host[3] = {1.0f, 2.0f, 3.0f};
  if (cudaMemcpyToSymbol(coefficients, host, sizeof host) != cudaSuccess) return -1;
  polynomial_kernel<<<1, n>>>(x, y, n);
  return cudaGetLastError();
}

__global__ void count_kernel(const int* x, int n) {
  int i = global_index();
  if (i < n && x[i] > 0) {
    atomicAdd(&counter, 1);
    atomicAdd(&total, (unsigned long long)x[i]);
  }
}
extern "C" int count_positive(const int* x, int n, unsigned long long* sum) {
  int zero = 0, result = -1;
  cudaMemcpyToSymbol(counter, &zero, sizeof zero);
  count_kernel<<<(n + 127) / 128, 128>>>(x, n);
  cudaDeviceSynchronize();
  cudaMemcpyFromSymbol(&result, counter, sizeof result);
  cudaMemcpyFromSymbol(sum, total, sizeof total);
  return result;
}

__global__ void activate_kernel(const float* x, float* y, int n, int which) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  switch (which) {
    case 0: y[i] = expf(v); break;
    case 1: y[i] = exp(v); break;
    case 2: y[i] = __expf(v); break;
    case 3: y[i] = tanhf(v); break;
    case 4: y[i] = erff(v); break;
    case 5: y[i] = logf(v); break;
    case 6: y[i] = log1pf(v); break;
    case 7: y[i] = expm1f(v); break;
    case 8: y[i] = rsqrtf(v); break;
    case 9: y[i] = sinf(v) + cosf(v); break;
    case 10: y[i] = powf(fabsf(v), 1.5f); break;
    case 11: y[i] = fmaxf(v, 0.5f) + fminf(v, 0.25f) + max(v, 1.0f) + min(2.0f, v); break;
    case 12: y[i] = exp2f(v) + log2f(v) + log10f(v); break;
    case 13: y[i] = std::exp(v) + std::tanh(v) + std::erf(v) + std::sqrt(v); break;
    case 14: y[i] = __fdividef(1.0f, 1.0f + __expf(-v)); break;
    case 15: y[i] = sigmoid(v); break;
  }
}
extern "C" void activate(const float* x, float* y, int n, int which) {
  activate_kernel<<<(n + 255) / 256, 256>>>(x, y, n, which);
}

__global__ void bits_kernel(const int* x, int* y) {
  int i = threadIdx.x, v = x[i];
  y[i * 8 + 0] = __popc(v);
  y[i * 8 + 1] = __clz(v);
  y[i * 8 + 2] = __ffs(v);
  y[i * 8 + 3] = (int)__brev((unsigned)v);
  y[i * 8 + 4] = __float_as_int(__int_as_float(v)) ;
  y[i * 8 + 5] = __mulhi(v, v);
  y[i * 8 + 6] = __float2int_rz((float)v * 1e6f);
  y[i * 8 + 7] = min(v, 3) + max(v, (int)blockDim.x) + __dp4a(v, 0x01010101, 7);
}
extern "C" void bits(const int* x, int* y, int n) { bits_kernel<<<1, n>>>(x, y); }

__global__ void histogram_kernel(const int* x, int* bins, float* sums, double* dsums, int* largest, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int bin = x[i] & 7;
  atomicAdd(&bins[bin], 1);
  atomicAdd(sums + bin, 0.5f * x[i]);
  atomicAdd(dsums + bin, 0.25 * x[i]);
  atomicMax(largest, x[i]);
  atomicMin(largest + 1, x[i]);
  atomicOr(largest + 2, 1 << bin);
  int old = largest[3], seen;
  do {
    seen = old;
    old = atomicCAS(&largest[3], seen, seen + 1);
  } while (old != seen);
  atomicInc((unsigned*)&largest[4], 9u);
}
extern "C" void histogram(const int* x, int* bins, float* sums, double* dsums, int* largest, int n) {
  histogram_kernel<<<(n + 255) / 256, 256>>>(x, bins, sums, dsums, largest, n);
}

#define DEFINE_MAP(name, expression)                                  \
  __global__ void name##_kernel(const float* x, float* y, int n) {    \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                    \
    if (i < n) {                                                      \
      float v = x[i];                                                 \
      y[i] = expression;                                              \
    }                                                                 \
  }                                                                   \
  extern "C" void name(const float* x, float* y, int n) {             \
    name##_kernel<<<(n + 31) / 32, 32>>>(x, y, n);                    \
  }
DEFINE_MAP(square, v* v)
DEFINE_MAP(negate, -v)

#define LAUNCH(kernel, n, ...) kernel<<<((n) + 255) / 256, 256>>>(__VA_ARGS__)
extern "C" void add_by_macro(const float* a, const float* b, float* c, int n) { LAUNCH(add_kernel, n, a, b, c, n); }

namespace nested {
namespace deeper {
template <class T>
__global__ void fill(T* x, T value, const int* unused) {
  if (unused == nullptr) x[blockIdx.x] = value;
}
}  // namespace deeper
}  // namespace nested
extern "C" void fill(float* x, int n) { nested::deeper::fill<float><<<n, 1>>>(x, 7.0f, NULL); }

struct Plus {
  float amount;
  __device__ float operator()(float v) const { return v + amount; }
};
template <class F>
__global__ void apply_kernel(float* x, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(x[i]);
}
template <class F>
void apply(float* x, int n, F f) {
  apply_kernel<<<1, n>>>(x, n, f);
}
extern "C" void apply_plus(float* x, int n) {
  apply(x, n, Plus{2.0f});
  apply(x, n, [] __device__(float v) { return v * 10.0f; });
}

extern "C" void other_file(int* x);
extern "C" void both_files(int* x) {
  other_file(x);
  own_kernel<<<1, 1>>>(x);
}
