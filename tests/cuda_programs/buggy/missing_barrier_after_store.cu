// finds: data race in shared memory, lines 7 and 8
// The tile is read by other warps before they can know that it is written.
#include "../program.cuh"

__global__ void reverse(const float* x, float* out) {
  __shared__ float tile[128];
  tile[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
  out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
}

int main() {
  DeviceArray<float> x(random_floats(512)), out(512);
  reverse<<<4, 128>>>(x.data(), out.data());
  return out.values().size() != 512;
}
