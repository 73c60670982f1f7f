// An assert that fails in a kernel fails the launch, and every later call, until the device is reset.
// Here in a kernel whose threads never wait; one that holds does nothing.
#include <cassert>
#include <cstdio>

__global__ void square(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(x[i] < n && "all are small");
  x[i] *= x[i];
}

__global__ void sum(const int* x, int* total) {
  assert(blockDim.x == 32);
  int value = x[threadIdx.x];
  for (int offset = 16; offset; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  assert(value < 0);
  if (threadIdx.x == 0) *total = value;
}

int main() {
  int host[64], *device;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  square<<<2, 32>>>(device, 64);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  if (host[63] != 63 * 63) return printf("the assert that holds changes something\n"), 1;
  sum<<<1, 32>>>(device, device + 40);
  if (cudaDeviceSynchronize() != cudaErrorAssert) return printf("a failed assert is no error\n"), 1;
  if (cudaMemset(device, 0, 4) != cudaErrorAssert) return printf("the error does not stick\n"), 1;
  cudaDeviceReset();
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  square<<<2, 32>>>(device, 60);
  if (cudaDeviceSynchronize() != cudaErrorAssert) return printf("it passes the second time\n"), 1;
  printf("ok\n");
  return 0;
}
