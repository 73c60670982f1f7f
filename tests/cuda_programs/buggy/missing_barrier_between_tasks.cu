// finds: data race in shared memory, lines 7 and 10
// A scratch array is used for a second sum while slow warps still read the first one.
#include "../program.cuh"

__device__ int block_sum(int value, int* scratch) {
  const int of_warp = __reduce_add_sync(0xffffffffu, value);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = of_warp;
  __syncthreads();
  int sum = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) sum += scratch[w];
  return sum;
}

__global__ void variance_times_n(const int* x, int* out) {
  __shared__ int scratch[32];
  const int value = x[threadIdx.x];
  const int mean = block_sum(value, scratch) / (int)blockDim.x;
  const int squares = block_sum((value - mean) * (value - mean), scratch);
  if (threadIdx.x == 0) *out = squares;
}

int main() {
  DeviceArray<int> x(random_ints(128, 0, 99)), out(1);
  variance_times_n<<<1, 128>>>(x.data(), out.data());
  return out.values().size() != 1;
}
