// A reduction in one launch: the block that finishes last adds the sums of all of them.
#include "../program.cuh"

constexpr int kThreads = 128;
__device__ unsigned num_finished = 0;

__device__ double block_sum(double value, double* shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int stride = kThreads / 2; stride; stride /= 2) {
    if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
    __syncthreads();
  }
  return shared[0];
}

__global__ void sum_of_squares(const float* x, int n, double* partial, double* total) {
  __shared__ double shared[kThreads];
  __shared__ bool is_last;
  double sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads)
    sum += (double)x[i] * x[i];
  sum = block_sum(sum, shared);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(&num_finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  double all = 0;
  for (int b = threadIdx.x; b < gridDim.x; b += kThreads) all += partial[b];
  all = block_sum(all, shared);
  if (threadIdx.x == 0) *total = all;
}

int main() {
  for (int blocks : {1, 9, 150}) {
    const int n = 3001;
    const std::vector<float> x = random_floats(n, -2, 2, blocks);
    double expected = 0;
    for (float value : x) expected += (double)value * value;
    DeviceArray<float> device_x(x);
    DeviceArray<double> partial(blocks), total(1);
    sum_of_squares<<<blocks, kThreads>>>(device_x.data(), n, partial.data(), total.data());
    expect_close("sum", 0, total.values()[0], expected, 1e-12);
  }
  return verdict();
}
