// Sums and maxima of rows by cub::BlockReduce, which shares its memory between two uses.
#include "../program.cuh"

#include <cub/block/block_reduce.cuh>

template <int Threads>
__global__ void row_facts(const int* x, int columns, int* sums, int* maxima, int* spreads) {
  using Reduce = cub::BlockReduce<int, Threads>;
  __shared__ typename Reduce::TempStorage memory;
  __shared__ int mean;
  const int* const row = x + blockIdx.x * columns;
  int own[2];
  for (int k = 0; k < 2; ++k) own[k] = threadIdx.x * 2 + k < columns ? row[threadIdx.x * 2 + k] : 0;
  const int sum = Reduce(memory).Sum(own);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    mean = sum / columns;
  }
  __syncthreads();
  // Only the first threads have numbers when there are fewer columns than threads.
  const int distance = threadIdx.x < columns ? abs(row[threadIdx.x] - mean) : 0;
  const int valid = min(columns, Threads);
  const int largest =
      Reduce(memory).Reduce(distance, [](int a, int b) { return a > b ? a : b; }, valid);
  __syncthreads();
  const int total = Reduce(memory).Sum(distance, valid);
  if (threadIdx.x == 0) {
    maxima[blockIdx.x] = largest;
    spreads[blockIdx.x] = total;
  }
}

int main() {
  constexpr int threads = 64;
  const int rows = 6;
  for (int columns : {20, 64, 111}) {
    const std::vector<int> x = random_ints(rows * columns, -1000, 1000, columns);
    std::vector<int> sums(rows, 0), maxima(rows, 0), spreads(rows, 0);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) sums[r] += x[r * columns + c];
      for (int c = 0; c < columns && c < threads; ++c) {
        const int distance = std::abs(x[r * columns + c] - sums[r] / columns);
        maxima[r] = distance > maxima[r] ? distance : maxima[r];
        spreads[r] += distance;
      }
    }
    DeviceArray<int> device_x(x), device_sums(rows), device_maxima(rows), device_spreads(rows);
    row_facts<threads><<<rows, threads>>>(device_x.data(), columns, device_sums.data(),
                                          device_maxima.data(), device_spreads.data());
    expect_equal("sums", device_sums.values(), sums);
    expect_equal("maxima", device_maxima.values(), maxima);
    expect_equal("spreads", device_spreads.values(), spreads);
  }
  return verdict();
}
