// finds: out of bounds write in shared memory, line 7
// The launch gives shared memory for so many bytes as the kernel needs floats.
#include "../program.cuh"

__global__ void rotate(const float* x, float* out) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[(threadIdx.x + 1) % blockDim.x];
}

int main() {
  const int n = 128;
  DeviceArray<float> x(random_floats(n)), out(n);
  rotate<<<1, n, n>>>(x.data(), out.data());
  return out.values().size() != n;
}
