// finds: data race in global memory, lines 11 and 17
// The last block adds up all partial sums, but no fence makes them visible to it.
#include "../program.cuh"

__device__ unsigned num_finished = 0;

__global__ void sum(const int* x, int* partial, int* total) {
  __shared__ bool is_last;
  int value = __reduce_add_sync(0xffffffffu, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = value;
    is_last = atomicInc(&num_finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x) return;
  int all = 0;
  for (int b = 0; b < gridDim.x; ++b) all += partial[b];
  *total = all;
}

int main() {
  DeviceArray<int> x(random_ints(8 * 32, 0, 9)), partial(8), total(1);
  sum<<<8, 32>>>(x.data(), partial.data(), total.data());
  return total.values().size() != 1;
}
