// Variables of the device that outlive a kernel: counters, arrays, structs and a pointer.
#include "../program.cuh"

struct Statistics {
  int count;
  long long sum;
};

__device__ Statistics statistics = {100, 0};
__device__ float table[2][4];
static __device__ int* destination;

__global__ void collect(const int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (x[i] > 0) atomicAdd(&statistics.count, 1);
  atomicAdd((unsigned long long*)&statistics.sum, (unsigned long long)(long long)x[i]);
  destination[n - 1 - i] = x[i];
}

__global__ void scale_table(float factor) { table[threadIdx.y][threadIdx.x] *= factor; }

int main() {
  const int n = 300;
  const std::vector<int> x = random_ints(n, -20, 20);
  DeviceArray<int> device_x(x), reversed(n);
  int* address = reversed.data();
  CHECK(cudaMemcpyToSymbol(destination, &address, sizeof address));
  collect<<<3, 100>>>(device_x.data(), n);
  Statistics got, expected = {100, 0};
  std::vector<int> expected_reversed(n);
  for (int i = 0; i < n; ++i) {
    expected.count += x[i] > 0;
    expected.sum += x[i];
    expected_reversed[n - 1 - i] = x[i];
  }
  CHECK(cudaMemcpyFromSymbol(&got, statistics, sizeof got));
  expect_equal("count", got.count, expected.count);
  expect_equal("sum", got.sum, expected.sum);
  expect_equal("reversed", reversed.values(), expected_reversed);

  const float rows[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  CHECK(cudaMemcpyToSymbol(table, rows, sizeof rows));
  scale_table<<<1, dim3(4, 2)>>>(0.5f);
  float second[4];
  CHECK(cudaMemcpyFromSymbol(second, table, sizeof second, sizeof second));
  for (int k = 0; k < 4; ++k) expect_equal("table", second[k], 0.5f * rows[1][k]);
  void* symbol;
  size_t bytes;
  CHECK(cudaGetSymbolAddress(&symbol, table));
  CHECK(cudaGetSymbolSize(&bytes, table));
  float last;
  CHECK(cudaMemcpy(&last, (float*)symbol + 7, sizeof last, cudaMemcpyDeviceToHost));
  expect_equal("last", last, 4.0f);
  expect_equal("bytes", bytes, sizeof rows);
  return verdict();
}
