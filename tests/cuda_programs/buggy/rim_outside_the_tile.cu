// finds: out of bounds read in shared memory, line 10
// The tile has no rim, but the last row looks below itself, beyond the whole array.
#include "../program.cuh"

__global__ void vertical_difference(const float* x, float* out) {
  __shared__ float tile[16][16];
  const int row = threadIdx.y, column = threadIdx.x;
  tile[row][column] = x[row * 16 + column];
  __syncthreads();
  out[row * 16 + column] = tile[row + 1][column] - tile[row][column];
}

int main() {
  DeviceArray<float> x(random_floats(256)), out(256);
  vertical_difference<<<1, dim3(16, 16)>>>(x.data(), out.data());
  return out.values().size() != 256;
}
