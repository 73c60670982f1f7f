// The gated activation of feed-forward layers, silu(a) * b, with four bfloat16 numbers a load.
#include <cuda_bf16.h>

struct __align__(8) Four {
  __nv_bfloat162 low, high;
};

__device__ __nv_bfloat162 gated(__nv_bfloat162 a, __nv_bfloat162 b) {
  const float2 x = __bfloat1622float2(a), y = __bfloat1622float2(b);
  return __floats2bfloat162_rn(x.x / (1.0f + __expf(-x.x)) * y.x,
                               x.y / (1.0f + __expf(-x.y)) * y.y);
}

__global__ void swiglu_kernel(const Four* gates_and_values, Four* out, int quads) {
  const Four* const gates = gates_and_values + (size_t)blockIdx.y * 2 * quads;
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= quads) return;
  const Four a = gates[q], b = gates[quads + q];
  out[(size_t)blockIdx.y * quads + q] = {gated(a.low, b.low), gated(a.high, b.high)};
}

extern "C" void swiglu(const void* gates_and_values, void* out, int rows, int width) {
  swiglu_kernel<<<dim3((width / 4 + 63) / 64, rows), 64>>>((const Four*)gates_and_values,
                                                           (Four*)out, width / 4);
}
