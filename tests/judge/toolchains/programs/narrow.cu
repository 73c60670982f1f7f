// half and bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void half_kernel(const half* a, const __half* b, half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __hfma(a[i], b[i], __float2half(1.0f)) + hexp(b[i]);
}
extern "C" void half_fma(const void* a, const void* b, void* out, int n) {
  half_kernel<<<(n + 127) / 128, 128>>>((const half*)a, (const half*)b, (half*)out, n);
}
__global__ void half2_kernel(const half2* a, half2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 wide = __half22float2(__hmul2(a[i], a[i]));
  out[i] = __floats2half2_rn(wide.x + 1.0f, wide.y);
}
extern "C" void half2_square(const void* a, void* out, int n) {
  half2_kernel<<<(n + 127) / 128, 128>>>((const half2*)a, (half2*)out, n);
}
template <typename T>
__device__ float to_float(T v);
template <>
__device__ float to_float<__nv_bfloat16>(__nv_bfloat16 v) { return __bfloat162float(v); }
template <typename T>
__global__ void round_trip_kernel(const float* x, T* narrow, float* wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    narrow[i] = __float2bfloat16(x[i]);
    wide[i] = to_float(narrow[i] * __float2bfloat16(2.0f));
  }
}
extern "C" void bfloat16_round_trip(const float* x, void* narrow, float* wide, int n) {
  round_trip_kernel<__nv_bfloat16><<<(n + 127) / 128, 128>>>(x, (__nv_bfloat16*)narrow, wide, n);
}
