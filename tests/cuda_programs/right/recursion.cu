// Recursion on the device: the Ackermann function, binary search, and moves of the towers of Hanoi.
#include "../program.cuh"

__device__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ int find(const int* sorted, int low, int high, int wanted) {
  if (low >= high) return -1 - low;
  const int middle = (low + high) / 2;
  if (sorted[middle] == wanted) return middle;
  return sorted[middle] < wanted ? find(sorted, middle + 1, high, wanted)
                                 : find(sorted, low, middle, wanted);
}

__device__ void hanoi(int discs, int from, int to, int* heights, int& moves) {
  if (discs == 0) return;
  const int other = 3 - from - to;
  hanoi(discs - 1, from, other, heights, moves);
  --heights[from];
  ++heights[to];
  ++moves;
  hanoi(discs - 1, other, to, heights, moves);
}

__global__ void solve(const int* sorted, int n, int* values, int* places, int* moves) {
  const int t = threadIdx.x;
  values[t] = ackermann(t % 3, t);
  places[t] = find(sorted, 0, n, 2 * t);
  int heights[3] = {t, 0, 0}, count = 0;
  hanoi(t, 0, 2, heights, count);
  moves[t] = heights[2] == t ? count : -1;
}

int main() {
  const int threads = 10, n = 6;
  const std::vector<int> sorted = {0, 3, 4, 8, 9, 18};
  DeviceArray<int> device_sorted(sorted), values(threads), places(threads), moves(threads);
  solve<<<1, threads>>>(device_sorted.data(), n, values.data(), places.data(), moves.data());
  std::vector<int> expected_moves(threads);
  for (int t = 0; t < threads; ++t) expected_moves[t] = (1 << t) - 1;
  // A(0, n) = n + 1, A(1, n) = n + 2, A(2, n) = 2 n + 3
  expect_equal("ackermann", values.values(), std::vector<int>{1, 3, 7, 4, 6, 13, 7, 9, 19, 10});
  expect_equal("places", places.values(), std::vector<int>{0, -2, 2, -4, 3, -6, -6, -6, -6, 5});
  expect_equal("moves", moves.values(), expected_moves);
  return verdict();
}
