// Group normalisation: one block a group of channels, sums of doubles in dynamic shared memory.
__global__ void group_norm_kernel(const float* x, const float* gain, const float* bias, float* out,
                                  int channels, int area, int groups, float epsilon) {
  extern __shared__ double sums[];
  double* const squares = sums + blockDim.x;
  const int per_group = channels / groups, size = per_group * area;
  const size_t first = (size_t)blockIdx.x * size;
  double sum = 0, square = 0;
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    sum += x[first + i];
    square += (double)x[first + i] * x[first + i];
  }
  sums[threadIdx.x] = sum;
  squares[threadIdx.x] = square;
  for (int stride = blockDim.x / 2; stride; stride >>= 1) {
    __syncthreads();
    if (threadIdx.x < stride) {
      sums[threadIdx.x] += sums[threadIdx.x + stride];
      squares[threadIdx.x] += squares[threadIdx.x + stride];
    }
  }
  __syncthreads();
  const double mean = sums[0] / size, variance = squares[0] / size - mean * mean;
  const float scale = (float)rsqrt(variance + epsilon);
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    const int channel = blockIdx.x % groups * per_group + i / area;
    out[first + i] = (x[first + i] - (float)mean) * scale * gain[channel] + bias[channel];
  }
}

extern "C" void group_norm(const float* x, const float* gain, const float* bias, float* out,
                           int images, int channels, int area, int groups, float epsilon) {
  group_norm_kernel<<<images * groups, 64, 2 * 64 * sizeof(double)>>>(x, gain, bias, out, channels,
                                                                      area, groups, epsilon);
}
