// Placements of queens: each thread tries the boards that begin with its own two rows, with a stack
// of its own.
#include "../program.cuh"

__global__ void count_placements(int size, unsigned* total) {
  const int start = blockIdx.x * blockDim.x + threadIdx.x;
  if (start >= size * size) return;
  const unsigned all = (1u << size) - 1;
  unsigned columns[16], left[16], right[16], open[16];
  columns[0] = left[0] = right[0] = 0;
  unsigned found = 0;
  int row = 0;
  open[0] = 1u << start / size;
  while (row >= 0) {
    if (open[row] == 0) {
      --row;
      continue;
    }
    const unsigned queen = open[row] & (0u - open[row]);
    open[row] ^= queen;
    if (row == size - 1) {
      ++found;
      continue;
    }
    columns[row + 1] = columns[row] | queen;
    left[row + 1] = (left[row] | queen) << 1 & all;
    right[row + 1] = (right[row] | queen) >> 1;
    ++row;
    open[row] = all & ~(columns[row] | left[row] | right[row]);
    if (row == 1) open[row] &= 1u << start % size;
  }
  if (found) atomicAdd(total, found);
}

int main() {
  const unsigned known[] = {2, 10, 4, 40, 92, 352};  // boards of 4 to 9
  for (int size = 4; size <= 9; ++size) {
    DeviceArray<unsigned> total(std::vector<unsigned>(1, 0u));
    count_placements<<<3, 32>>>(size, total.data());
    expect_equal("placements", total.values()[0], known[size - 4]);
  }
  return verdict();
}
