// finds: data race in shared memory, line 6
// The last warp of a tree goes on without synchronising, as was right before lanes could diverge.
#include "../program.cuh"

__device__ void reduce_last_warp(volatile int* partial, int t) {
  for (int stride = 32; stride > 0; stride /= 2) partial[t] = partial[t] + partial[t + stride];
}

__global__ void sum(const int* x, int* out) {
  __shared__ int partial[128];
  const int t = threadIdx.x;
  partial[t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  if (t < 64) partial[t] += partial[t + 64];
  __syncthreads();
  if (t < 32) reduce_last_warp(partial, t);
  if (t == 0) out[blockIdx.x] = partial[0];
}

int main() {
  DeviceArray<int> x(random_ints(256, 0, 99)), out(2);
  sum<<<2, 128>>>(x.data(), out.data());
  return out.values().size() != 2;
}
