// finds: out of bounds write, line 7
// cudaMalloc gets the number of elements where it takes bytes.
#include "../program.cuh"

__global__ void squares(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i * i;
}

int main() {
  const int n = 300;
  int* out;
  CHECK(cudaMalloc(&out, n));
  squares<<<3, 128>>>(out, n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(out));
  return 0;
}
