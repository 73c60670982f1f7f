// finds: data race in shared memory, lines 8, 10 and 12
// One thread takes the next row for all while slow warps still look which one was the last.
#include "../program.cuh"

__global__ void process(const int* x, int rows, int columns, int* queue, int* out) {
  __shared__ int row;
  for (;;) {
    if (threadIdx.x == 0) row = atomicAdd(queue, 1);
    __syncthreads();
    if (row >= rows) return;
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
      out[row * columns + c] = 2 * x[row * columns + c];
  }
}

int main() {
  const int rows = 9, columns = 100;
  DeviceArray<int> x(random_ints(rows * columns, 0, 9)), out(rows * columns),
      queue(std::vector<int>(1, 0));
  process<<<2, 64>>>(x.data(), rows, columns, queue.data(), out.data());
  return out.values().size() != rows * columns;
}
