// A transpose through a tile whose rows are one element longer, so that columns have no conflicts.
#include "../program.cuh"

constexpr int kTile = 32, kRows = 8;

template <class T>
__global__ void transpose(const T* __restrict__ x, T* __restrict__ out, int rows, int columns) {
  __shared__ T tile[kTile][kTile + 1];
  int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
  for (int k = 0; k < kTile; k += kRows)
    if (row + k < rows && column < columns)
      tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * columns + column];
  __syncthreads();
  column = blockIdx.y * kTile + threadIdx.x;
  row = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
  for (int k = 0; k < kTile; k += kRows)
    if (row + k < columns && column < rows)
      out[(row + k) * rows + column] = tile[threadIdx.x][threadIdx.y + k];
}

template <class T>
void transposes(int rows, int columns) {
  std::vector<T> x(rows * columns), expected(rows * columns);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) x[r * columns + c] = expected[c * rows + r] = r * 1000 + c;
  DeviceArray<T> device_x(x), out(x.size());
  const dim3 grid((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  transpose<T><<<grid, dim3(kTile, kRows)>>>(device_x.data(), out.data(), rows, columns);
  expect_equal("transpose", out.values(), expected);
}

int main() {
  transposes<float>(64, 64);
  transposes<double>(37, 101);
  transposes<short>(1, 30);
  return verdict();
}
