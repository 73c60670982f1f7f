// The place of the largest number of each row, the first one where there are several: value and
// place are packed into one number that orders as they do.
__device__ unsigned long long packed(float value, int place) {
  const unsigned bits = __float_as_uint(value);
  const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return (unsigned long long)ordered << 32 | (0xffffffffu - place);
}

__global__ void argmax_kernel(const float* x, long long* out, int columns) {
  __shared__ unsigned long long best;
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  unsigned long long own = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const unsigned long long candidate = packed(x[blockIdx.x * columns + c], c);
    own = candidate > own ? candidate : own;
  }
  atomicMax(&best, own);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = 0xffffffffu - (unsigned)best;
}

extern "C" void argmax(const float* x, long long* out, int rows, int columns) {
  argmax_kernel<<<rows, 96>>>(x, out, columns);
}
