// finds: mismatched mask, lines 9 and 11
// Half of a warp waits for the block while the other half waits for the whole warp.
#include "../program.cuh"

__global__ void stage(const int* x, int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 16)
    __syncthreads();
  else
    __syncwarp();
  out[threadIdx.x] = tile[31 - threadIdx.x];
}

int main() {
  DeviceArray<int> x(random_ints(32, 0, 99)), out(32);
  stage<<<1, 32>>>(x.data(), out.data());
  return out.values().size() != 32;
}
