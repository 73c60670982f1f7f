// What the runtime answers to launches and calls that cannot be: each error once, and then it is
// gone.
#include "../program.cuh"

#include <cstring>

__global__ void fill(int* x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void nothing() {}

void expect(const char* what, cudaError_t got, cudaError_t expected) {
  if (got == expected) return;
  std::printf("%s: %s; expected %s\n", what, cudaGetErrorName(got), cudaGetErrorName(expected));
  ++num_differences;
}

// A launch that no device can satisfy is an invalid configuration up to CUDA 12, an invalid value
// from 13 on.
void expect_refusal(const char* what, cudaError_t got) {
  expect(what, got == cudaErrorInvalidConfiguration ? cudaErrorInvalidValue : got,
         cudaErrorInvalidValue);
}

int main() {
  DeviceArray<int> x(64);
  fill<<<2, 32>>>(x.data(), 7);
  expect("a launch", cudaGetLastError(), cudaSuccess);
  nothing<<<1, 1025>>>();
  expect_refusal("1025 threads, looked at", cudaPeekAtLastError());
  expect_refusal("1025 threads", cudaGetLastError());
  expect("told once", cudaGetLastError(), cudaSuccess);
  nothing<<<1, dim3(1, 1, 65)>>>();
  expect_refusal("65 threads deep", cudaGetLastError());
  nothing<<<dim3(1, 70000), 1>>>();
  expect_refusal("70000 blocks high", cudaGetLastError());
  nothing<<<0, 32>>>();
  expect_refusal("an empty grid", cudaGetLastError());
  nothing<<<1, 32, 1 << 20>>>();
  expect("1 MB of shared memory", cudaGetLastError(), cudaErrorInvalidValue);
  expect("device 77", cudaSetDevice(77), cudaErrorInvalidDevice);
  expect("device 77, told once", cudaGetLastError(), cudaErrorInvalidDevice);
  void* pointer = nullptr;
  expect("a petabyte", cudaMalloc(&pointer, (size_t)1 << 50), cudaErrorMemoryAllocation);
  cudaGetLastError();
  expect("freeing nothing", cudaFree(nullptr), cudaSuccess);
  CHECK(cudaDeviceSynchronize());
  expect_equal("name",
               std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"), 0);
  expect_equal("text", std::strcmp(cudaGetErrorString(cudaSuccess), "no error"), 0);
  expect_equal("filled", x.values(), std::vector<int>(64, 7));
  return verdict();
}
