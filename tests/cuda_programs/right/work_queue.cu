// Persistent blocks take rows of very different lengths from a queue until it is empty.
#include "../program.cuh"

__global__ void process(const int* starts, int num_rows, const int* x, int* queue, int* sums,
                        int* taken) {
  __shared__ int row;
  __shared__ int sum;
  for (;;) {
    if (threadIdx.x == 0) {
      row = atomicAdd(queue, 1);
      sum = 0;
    }
    __syncthreads();
    if (row >= num_rows) break;
    int own = 0;
    for (int i = starts[row] + threadIdx.x; i < starts[row + 1]; i += blockDim.x) own += x[i];
    if (own) atomicAdd(&sum, own);
    __syncthreads();
    if (threadIdx.x == 0) {
      sums[row] = sum;
      atomicAdd(taken, 1);
    }
    __syncthreads();
  }
}

int main() {
  const int num_rows = 61;
  std::vector<int> starts(1, 0);
  for (int r = 0; r < num_rows; ++r) starts.push_back(starts.back() + r * r % 97);
  const std::vector<int> x = random_ints(starts.back(), -9, 9);
  std::vector<int> expected(num_rows, 0);
  for (int r = 0; r < num_rows; ++r)
    for (int i = starts[r]; i < starts[r + 1]; ++i) expected[r] += x[i];
  DeviceArray<int> device_starts(starts), device_x(x), sums(num_rows);
  DeviceArray<int> queue(std::vector<int>(1, 0)), taken(std::vector<int>(1, 0));
  process<<<5, 48>>>(device_starts.data(), num_rows, device_x.data(), queue.data(), sums.data(),
                     taken.data());
  expect_equal("sums", sums.values(), expected);
  expect_equal("taken", taken.values()[0], num_rows);
  expect_equal("queue", queue.values()[0], num_rows + 5);
  return verdict();
}
