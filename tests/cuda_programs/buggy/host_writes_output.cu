// finds: host access, line 15
// The host fills in what the kernel leaves out, through a pointer of the device.
#include "../program.cuh"

__global__ void differences(const int* x, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n) out[i] = x[i] - x[i - 1];
}

int main() {
  const int n = 100;
  DeviceArray<int> x(random_ints(n, 0, 9)), out(n);
  differences<<<1, 128>>>(x.data(), out.data(), n);
  CHECK(cudaDeviceSynchronize());
  out.data()[0] = 0;
  return out.values().size() != n;
}
