// A sparse matrix times a vector: eight lanes a row, whether rows are empty or long.
#include "../program.cuh"

constexpr int kLanes = 8;

__global__ void multiply(const int* starts, const int* columns, const double* values,
                         const double* x, double* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes, lane = threadIdx.x % kLanes;
  double sum = 0;
  if (row < rows)
    for (int i = starts[row] + lane; i < starts[row + 1]; i += kLanes)
      sum += values[i] * x[columns[i]];
  for (int offset = kLanes / 2; offset; offset /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, offset, kLanes);
  if (row < rows && lane == 0) y[row] = sum;
}

int main() {
  const int rows = 101, width = 60;
  std::vector<int> starts(1, 0), columns;
  std::vector<double> values, x(width), expected(rows, 0.0);
  for (int c = 0; c < width; ++c) x[c] = c - 20;
  for (int r = 0; r < rows; ++r) {
    for (int c = r % 13; c < width && r % 10; c += 1 + r % 17) {
      columns.push_back(c);
      values.push_back(r % 5 - 2 + c * 0.25);
      expected[r] += values.back() * x[c];
    }
    starts.push_back((int)columns.size());
  }
  DeviceArray<int> device_starts(starts), device_columns(columns);
  DeviceArray<double> device_values(values), device_x(x), y(rows);
  multiply<<<(rows * kLanes + 127) / 128, 128>>>(device_starts.data(), device_columns.data(),
                                                 device_values.data(), device_x.data(), y.data(),
                                                 rows);
  expect_equal("y", y.values(), expected);
  return verdict();
}
