// finds: out of bounds read, line 7
// The first element has no left neighbour.
#include "../program.cuh"

__global__ void differences(const int* x, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] - x[i - 1];
}

int main() {
  const int n = 100;
  DeviceArray<int> x(random_ints(n, 0, 9)), out(n);
  differences<<<2, 64>>>(x.data(), out.data(), n);
  return out.values().size() != n;
}
