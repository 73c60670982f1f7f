// finds: uninitialised read of shared memory, line 10
// Threads beyond the end leave their place empty, and the tree adds it.
#include "../program.cuh"

__global__ void sum(const float* x, int n, float* out) {
  __shared__ float partial[128];
  if (threadIdx.x < n) partial[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int stride = 64; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = partial[0];
}

int main() {
  DeviceArray<float> x(random_floats(100)), out(1);
  sum<<<1, 128>>>(x.data(), 100, out.data());
  return out.values().size() != 1;
}
