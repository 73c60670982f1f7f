// Unpacks run lengths: cub::BlockScan turns the lengths of the runs into the places of their
// values.
#include "../program.cuh"

#include <cub/cub.cuh>

constexpr int kThreads = 96;

__global__ void unpack(const int* lengths, const char* values, char* out, int* total) {
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ Scan::TempStorage memory;
  const int length = lengths[threadIdx.x];
  int place, sum;
  Scan(memory).ExclusiveSum(length, place, sum);
  for (int k = 0; k < length; ++k) out[place + k] = values[threadIdx.x];
  if (threadIdx.x == 0) *total = sum;
}

__global__ void running(const int* x, int* sums, int* maxima) {
  using Scan = cub::BlockScan<int, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ Scan::TempStorage memory;
  int items[3], scanned[3];
  for (int k = 0; k < 3; ++k) items[k] = x[threadIdx.x * 3 + k];
  Scan(memory).InclusiveSum(items, scanned);
  for (int k = 0; k < 3; ++k) sums[threadIdx.x * 3 + k] = scanned[k];
  __syncthreads();
  int largest_before;
  Scan(memory).ExclusiveScan(items[0], largest_before, -1000,
                             [](int a, int b) { return max(a, b); });
  maxima[threadIdx.x] = largest_before;
}

int main() {
  const std::vector<int> lengths = random_ints(kThreads, 0, 5);
  std::vector<char> values(kThreads), expected;
  for (int t = 0; t < kThreads; ++t) {
    values[t] = (char)('a' + t % 26);
    expected.insert(expected.end(), lengths[t], values[t]);
  }
  DeviceArray<int> device_lengths(lengths), total(1);
  DeviceArray<char> device_values(values), out(expected.size());
  unpack<<<1, kThreads>>>(device_lengths.data(), device_values.data(), out.data(), total.data());
  expect_equal("total", total.values()[0], (int)expected.size());
  expect_equal("unpacked", out.values(), expected);

  const std::vector<int> x = random_ints(3 * kThreads, -50, 50, 8);
  std::vector<int> sums = x, maxima(kThreads, -1000);
  for (int i = 1; i < 3 * kThreads; ++i) sums[i] += sums[i - 1];
  for (int t = 1; t < kThreads; ++t)
    maxima[t] = maxima[t - 1] > x[3 * t - 3] ? maxima[t - 1] : x[3 * t - 3];
  DeviceArray<int> device_x(x), device_sums(3 * kThreads), device_maxima(kThreads);
  running<<<1, kThreads>>>(device_x.data(), device_sums.data(), device_maxima.data());
  expect_equal("sums", device_sums.values(), sums);
  expect_equal("maxima", device_maxima.values(), maxima);
  return verdict();
}
