// The two forms of GELU in float, and the second in half, two numbers at a time.
#include <cuda_fp16.h>

__device__ float by_erf(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }
__device__ float by_tanh(float x) {
  return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

template <float (*Function)(float)>
__global__ void apply(const float* x, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = Function(x[i]);
}

__global__ void apply_half(const __half* x, __half* out, int n) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    const float2 v = __half22float2(*reinterpret_cast<const __half2*>(x + i));
    *reinterpret_cast<__half2*>(out + i) = __floats2half2_rn(by_tanh(v.x), by_tanh(v.y));
  } else if (i < n) {
    out[i] = __float2half(by_tanh(__half2float(x[i])));
  }
}

extern "C" void gelu_erf(const float* x, float* out, int n) {
  apply<by_erf><<<4, 128>>>(x, out, n);
}
extern "C" void gelu_tanh(const float* x, float* out, int n) {
  apply<by_tanh><<<4, 128>>>(x, out, n);
}
extern "C" void gelu_half(const __half* x, __half* out, int n) {
  apply_half<<<(n / 2 + 128) / 128, 128>>>(x, out, n);
}
