// Exclusive prefix sums of each block's segment by an up-sweep and a down-sweep over a tree.
#include "../program.cuh"

constexpr int kSize = 256;

__global__ void exclusive_scan(const int* x, int* out, int* totals, int n) {
  __shared__ int tree[kSize];
  const int t = threadIdx.x, first = blockIdx.x * kSize;
  for (int i = t; i < kSize; i += blockDim.x) tree[i] = first + i < n ? x[first + i] : 0;
  for (int stride = 1; stride < kSize; stride *= 2) {
    __syncthreads();
    const int right = (t + 1) * 2 * stride - 1;
    if (right < kSize) tree[right] += tree[right - stride];
  }
  __syncthreads();
  if (t == 0) {
    totals[blockIdx.x] = tree[kSize - 1];
    tree[kSize - 1] = 0;
  }
  for (int stride = kSize / 2; stride > 0; stride /= 2) {
    __syncthreads();
    const int right = (t + 1) * 2 * stride - 1;
    if (right < kSize) {
      const int left_sum = tree[right - stride];
      tree[right - stride] = tree[right];
      tree[right] += left_sum;
    }
  }
  __syncthreads();
  for (int i = t; i < kSize; i += blockDim.x)
    if (first + i < n) out[first + i] = tree[i];
}

__global__ void add_offsets(int* out, const int* offsets, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += offsets[blockIdx.x];
}

int main() {
  const int n = 5003, blocks = (n + kSize - 1) / kSize;
  const std::vector<int> x = random_ints(n, -9, 20);
  DeviceArray<int> device_x(x), out(n), totals(blocks), offsets(blocks), grand_total(1);
  exclusive_scan<<<blocks, kSize / 2>>>(device_x.data(), out.data(), totals.data(), n);
  exclusive_scan<<<1, kSize / 2>>>(totals.data(), offsets.data(), grand_total.data(), blocks);
  add_offsets<<<blocks, kSize>>>(out.data(), offsets.data(), n);
  std::vector<int> expected(n);
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    expected[i] = sum;
    sum += x[i];
  }
  expect_equal("scan", out.values(), expected);
  expect_equal("total", grand_total.values()[0], sum);
  return verdict();
}
