// The sum of an array of any length: a tree in shared memory in each block, then one block more.
#include "../program.cuh"

template <int Threads>
__global__ void partial_sums(const int* x, int n, long long* sums) {
  __shared__ long long partial[Threads];
  long long sum = 0;
  for (int i = blockIdx.x * Threads + threadIdx.x; i < n; i += gridDim.x * Threads) sum += x[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int stride = Threads / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

__global__ void sum_of_sums(const long long* sums, int n, long long* total) {
  extern __shared__ long long sums_so_far[];
  sums_so_far[threadIdx.x] = threadIdx.x < n ? sums[threadIdx.x] : 0;
  for (int width = blockDim.x; width > 1;) {
    const int half = (width + 1) / 2;
    __syncthreads();
    if (threadIdx.x < width / 2) sums_so_far[threadIdx.x] += sums_so_far[threadIdx.x + half];
    width = half;
  }
  __syncthreads();
  if (threadIdx.x == 0) *total = sums_so_far[0];
}

int main() {
  for (int n : {1, 31, 1000, 4097}) {
    const std::vector<int> x = random_ints(n, -1000000, 1000000, n);
    const int blocks = 5;
    DeviceArray<int> device_x(x);
    DeviceArray<long long> sums(blocks), total(1);
    partial_sums<128><<<blocks, 128>>>(device_x.data(), n, sums.data());
    sum_of_sums<<<1, blocks, blocks * sizeof(long long)>>>(sums.data(), blocks, total.data());
    long long expected = 0;
    for (int value : x) expected += value;
    expect_equal("total", total.values()[0], expected);
  }
  return verdict();
}
