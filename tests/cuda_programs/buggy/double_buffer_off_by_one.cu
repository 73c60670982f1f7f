// finds: data race in shared memory, lines 12 and 13
// Two buffers take turns, but the next tile is written to the one that is being read.
#include "../program.cuh"

__global__ void window_sums(const float* x, float* out, int tiles) {
  __shared__ float buffer[2][64];
  const int t = threadIdx.x;
  buffer[0][t] = x[t];
  __syncthreads();
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) buffer[tile % 2][t] = x[(tile + 1) * 64 + t];
    for (int k = 0; k < 64; ++k) sum += buffer[tile % 2][(t + k) % 64] * (k + 1);
    __syncthreads();
  }
  out[t] = sum;
}

int main() {
  DeviceArray<float> x(random_floats(4 * 64)), out(64);
  window_sums<<<1, 64>>>(x.data(), out.data(), 4);
  return out.values().size() != 64;
}
