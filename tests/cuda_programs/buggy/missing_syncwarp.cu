// finds: data race in shared memory, lines 8 and 9
// Lanes of one warp exchange values through memory and rely on running in step.
#include "../program.cuh"

__global__ void rotate(const int* x, int* out) {
  __shared__ int lanes[64];
  const int lane = threadIdx.x % 32, warp_first = threadIdx.x - lane;
  lanes[threadIdx.x] = x[threadIdx.x];
  out[threadIdx.x] = lanes[warp_first + (lane + 1) % 32];
}

int main() {
  DeviceArray<int> x(random_ints(64, 0, 99)), out(64);
  rotate<<<1, 64>>>(x.data(), out.data());
  return out.values().size() != 64;
}
