// Softmax over rows, one warp a row, in float and in half.
#include <cuda_fp16.h>

template <class T>
__global__ void softmax_kernel(const T* x, T* out, int rows, int columns) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const T* const in = x + (size_t)row * columns;
  float largest = -INFINITY, sum = 0;
  for (int c = lane; c < columns; c += 32) largest = fmaxf(largest, (float)in[c]);
  for (int offset = 16; offset; offset /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  for (int c = lane; c < columns; c += 32) sum += __expf((float)in[c] - largest);
  for (int offset = 16; offset; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int c = lane; c < columns; c += 32)
    out[(size_t)row * columns + c] = (T)(__expf((float)in[c] - largest) / sum);
}

extern "C" void softmax_float(const float* x, float* out, int rows, int columns) {
  softmax_kernel<<<(rows + 3) / 4, 128>>>(x, out, rows, columns);
}
extern "C" void softmax_half(const __half* x, __half* out, int rows, int columns) {
  softmax_kernel<<<(rows + 3) / 4, 128>>>(x, out, rows, columns);
}
