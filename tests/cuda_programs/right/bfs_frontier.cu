// Breadth-first search in a grid with walls: each launch turns one frontier into the next.
#include "../program.cuh"

__constant__ int2 steps[4] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};

__global__ void expand(const char* walls, int height, int width, const int* frontier, int size,
                       int distance, int* distances, int* next, int* next_size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const int row = frontier[i] / width, column = frontier[i] % width;
  for (int k = 0; k < 4; ++k) {
    const int r = row + steps[k].y, c = column + steps[k].x;
    if (r < 0 || r >= height || c < 0 || c >= width || walls[r * width + c]) continue;
    if (atomicCAS(&distances[r * width + c], -1, distance + 1) == -1)
      next[atomicAdd(next_size, 1)] = r * width + c;
  }
}

int main() {
  const int height = 23, width = 31, n = height * width;
  std::vector<char> walls(n, 0);
  for (int r = 1; r < height; r += 2)  // a snake: gaps at the left and at the right end in turn
    for (int c = 0; c < width; ++c) walls[r * width + c] = c != (r % 4 == 1 ? width - 1 : 0);
  std::vector<int> expected(n, -1), queue(1, 0);
  expected[0] = 0;
  for (size_t head = 0; head < queue.size(); ++head)
    for (int k = 0; k < 4; ++k) {
      const int r = queue[head] / width + (k == 2) - (k == 3),
                c = queue[head] % width + (k == 0) - (k == 1);
      if (r < 0 || r >= height || c < 0 || c >= width || walls[r * width + c] ||
          expected[r * width + c] >= 0)
        continue;
      expected[r * width + c] = expected[queue[head]] + 1;
      queue.push_back(r * width + c);
    }
  std::vector<int> start(n, -1);
  start[0] = 0;
  DeviceArray<char> device_walls(walls);
  DeviceArray<int> distances(start), frontier(std::vector<int>(n, 0)), next(n), next_size(1);
  int* from = frontier.data();
  int* to = next.data();
  for (int size = 1, distance = 0; size > 0; ++distance) {
    CHECK(cudaMemset(next_size.data(), 0, sizeof(int)));
    expand<<<(size + 31) / 32, 32>>>(device_walls.data(), height, width, from, size, distance,
                                     distances.data(), to, next_size.data());
    size = next_size.values()[0];
    std::swap(from, to);
  }
  expect_equal("distances", distances.values(), expected);
  return verdict();
}
