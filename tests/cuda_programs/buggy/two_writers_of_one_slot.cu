// finds: data race in shared memory, line 9
// Every warp writes the block's largest value, whichever comes last.
#include "../program.cuh"

__global__ void largest(const int* x, int* out) {
  __shared__ int block_largest;
  int value = x[blockIdx.x * blockDim.x + threadIdx.x];
  value = __reduce_max_sync(0xffffffffu, value);
  if (threadIdx.x % 32 == 0) block_largest = value;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = block_largest;
}

int main() {
  DeviceArray<int> x(random_ints(4 * 96, 0, 1000)), out(4);
  largest<<<4, 96>>>(x.data(), out.data());
  return out.values().size() != 4;
}
