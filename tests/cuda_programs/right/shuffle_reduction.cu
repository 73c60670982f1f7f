// One warp a row: sum, smallest value and its place, by shuffles without shared memory.
#include "../program.cuh"

constexpr unsigned kFull = 0xffffffffu;

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(kFull, value, offset);
  return value;  // whole in lane 0
}

__device__ void warp_minimum(float& value, int& place) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(kFull, value, offset);
    const int other_place = __shfl_xor_sync(kFull, place, offset);
    if (other < value || (other == value && other_place < place)) {
      value = other;
      place = other_place;
    }
  }
}

__global__ void row_facts(const float* x, int rows, int columns, float* sums, float* minima,
                          int* places) {
  const int lane = threadIdx.x % warpSize;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  if (row >= rows) return;  // the same for all lanes of a warp
  float sum = 0, smallest = INFINITY;
  int place = columns;
  for (int c = lane; c < columns; c += warpSize) {
    const float value = x[row * columns + c];
    sum += value;
    if (value < smallest) {
      smallest = value;
      place = c;
    }
  }
  sum = warp_sum(sum);
  warp_minimum(smallest, place);
  if (lane == 0) sums[row] = sum;
  if (lane == 5) {
    minima[row] = smallest;
    places[row] = place;
  }
}

int main() {
  const int rows = 13, columns = 75;
  const std::vector<int> whole = random_ints(rows * columns, -30, 30);
  const std::vector<float> x(whole.begin(), whole.end());
  DeviceArray<float> device_x(x), sums(rows), minima(rows);
  DeviceArray<int> places(rows);
  row_facts<<<4, 128>>>(device_x.data(), rows, columns, sums.data(), minima.data(), places.data());
  std::vector<float> expected_sums(rows, 0), expected_minima(rows);
  std::vector<int> expected_places(rows, 0);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      expected_sums[r] += x[r * columns + c];
      if (x[r * columns + c] < x[r * columns + expected_places[r]]) expected_places[r] = c;
    }
    expected_minima[r] = x[r * columns + expected_places[r]];
  }
  expect_equal("sums", sums.values(), expected_sums);
  expect_equal("minima", minima.values(), expected_minima);
  expect_equal("places", places.values(), expected_places);
  return verdict();
}
