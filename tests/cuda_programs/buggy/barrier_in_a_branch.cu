// finds: divergent barrier, lines 10 and 13
// The barrier stands inside of the check of the bounds; threads beyond them wait at the next one.
#include "../program.cuh"

__global__ void scale_by_first(float* x, int n) {
  __shared__ float first;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (threadIdx.x == 0) first = x[i];
    __syncthreads();
    x[i] *= first;
  }
  __syncthreads();
  if (threadIdx.x == 0) x[i] = first;
}

int main() {
  DeviceArray<float> x(random_floats(100));
  scale_by_first<<<2, 64>>>(x.data(), 100);
  return x.values().size() != 100;
}
