// Cumulative sums along rows: a warp takes 32 numbers at a time and carries the sum over.
template <class T>
__global__ void cumsum_kernel(const T* x, T* out, int rows, int columns) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  T carry = 0;
  for (int first = 0; first < columns; first += 32) {
    const int c = first + lane;
    T sum = c < columns ? x[row * columns + c] : T(0);
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const T left = __shfl_up_sync(0xffffffffu, sum, offset);
      if (lane >= offset) sum += left;
    }
    if (c < columns) out[row * columns + c] = carry + sum;
    carry += __shfl_sync(0xffffffffu, sum, 31);
  }
}

extern "C" void cumsum_double(const double* x, double* out, int rows, int columns) {
  cumsum_kernel<<<(rows + 3) / 4, dim3(32, 4)>>>(x, out, rows, columns);
}
extern "C" void cumsum_long(const long long* x, long long* out, int rows, int columns) {
  cumsum_kernel<<<(rows + 3) / 4, dim3(32, 4)>>>(x, out, rows, columns);
}
