// Conway's game of life on a torus: each block reads its tile with a rim of one cell.
#include "../program.cuh"

constexpr int kTile = 16;

__global__ void generation(const unsigned char* cells, unsigned char* next, int height, int width) {
  __shared__ unsigned char tile[kTile + 2][kTile + 2];
  const int top = blockIdx.y * kTile - 1 + height, left = blockIdx.x * kTile - 1 + width;
  const int rank = threadIdx.y * kTile + threadIdx.x;
  for (int i = rank; i < (kTile + 2) * (kTile + 2); i += kTile * kTile) {
    const int r = i / (kTile + 2), c = i % (kTile + 2);
    tile[r][c] = cells[(top + r) % height * width + (left + c) % width];
  }
  __syncthreads();
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  if (row >= height || column >= width) return;
  int neighbours = 0;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) neighbours += tile[threadIdx.y + r][threadIdx.x + c];
  const int self = tile[threadIdx.y + 1][threadIdx.x + 1];
  neighbours -= self;
  next[row * width + column] = neighbours == 3 || (neighbours == 2 && self);
}

int main() {
  const int height = 40, width = 27;
  std::vector<unsigned char> cells(height * width);
  const std::vector<int> start = random_ints(cells.size(), 0, 2);
  for (size_t i = 0; i < cells.size(); ++i) cells[i] = start[i] == 0;
  DeviceArray<unsigned char> now(cells), next(cells.size());
  const dim3 grid((width + kTile - 1) / kTile, (height + kTile - 1) / kTile), block(kTile, kTile);
  for (int step = 0; step < 6; ++step) {
    auto& from = step % 2 ? next : now;
    auto& to = step % 2 ? now : next;
    generation<<<grid, block>>>(from.data(), to.data(), height, width);
    std::vector<unsigned char> expected(cells.size());
    for (int r = 0; r < height; ++r)
      for (int c = 0; c < width; ++c) {
        int around = 0;
        for (int k = 0; k < 9; ++k)
          if (k != 4)
            around +=
                cells[(r + k / 3 + height - 1) % height * width + (c + k % 3 + width - 1) % width];
        expected[r * width + c] = around == 3 || (around == 2 && cells[r * width + c]);
      }
    cells = expected;
  }
  expect_equal("cells", now.values(), cells);
  return verdict();
}
