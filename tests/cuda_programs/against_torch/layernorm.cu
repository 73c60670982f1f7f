// Layer normalisation in float, and root-mean-square normalisation in bfloat16.
#include <cuda_bf16.h>

__device__ float block_sum(float value) {
  __shared__ float of_warps[32];
  for (int offset = 16; offset; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) sum += of_warps[w];
  return sum;
}

__global__ void layernorm_kernel(const float* x, const float* gain, const float* bias, float* out,
                                 int columns, float epsilon) {
  const float* const row = x + blockIdx.x * columns;
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c];
  const float mean = block_sum(sum) / columns;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    squares += (row[c] - mean) * (row[c] - mean);
  const float scale = rsqrtf(block_sum(squares) / columns + epsilon);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[blockIdx.x * columns + c] = (row[c] - mean) * scale * gain[c] + bias[c];
}

__global__ void rms_kernel(const __nv_bfloat16* x, const __nv_bfloat16* gain, __nv_bfloat16* out,
                           int columns, float epsilon) {
  const __nv_bfloat16* const row = x + blockIdx.x * columns;
  float squares = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const float value = __bfloat162float(row[c]);
    squares += value * value;
  }
  const float scale = rsqrtf(block_sum(squares) / columns + epsilon);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[blockIdx.x * columns + c] =
        __float2bfloat16(__bfloat162float(row[c]) * scale * __bfloat162float(gain[c]));
}

extern "C" void layernorm(const float* x, const float* gain, const float* bias, float* out,
                          int rows, int columns, float epsilon) {
  layernorm_kernel<<<rows, 96>>>(x, gain, bias, out, columns, epsilon);
}
extern "C" void rms_norm(const __nv_bfloat16* x, const __nv_bfloat16* gain, __nv_bfloat16* out,
                         int rows, int columns, float epsilon) {
  rms_kernel<<<rows, 64>>>(x, gain, out, columns, epsilon);
}
