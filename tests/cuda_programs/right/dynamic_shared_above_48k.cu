// A permutation of 20,000 floats inside one block needs 80 KB of shared memory: only a kernel that
// asks for it beforehand gets so much.
#include "../program.cuh"

__global__ void permute(const float* x, const int* to, float* out, int n) {
  extern __shared__ float buffer[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) buffer[to[i]] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = buffer[i];
}

int main() {
  const int n = 20000, bytes = n * sizeof(float);
  std::vector<float> x(n), expected(n);
  std::vector<int> to(n);
  for (int i = 0; i < n; ++i) {
    x[i] = i * 0.5f;
    to[i] = (int)((long long)i * 7919 % n);  // 7919 is a prime that does not divide n
    expected[to[i]] = x[i];
  }
  DeviceArray<float> device_x(x), out(n);
  DeviceArray<int> device_to(to);
  permute<<<1, 256, bytes>>>(device_x.data(), device_to.data(), out.data(), n);
  expect_equal("refused", (int)cudaGetLastError(), (int)cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(permute, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  permute<<<1, 256, bytes>>>(device_x.data(), device_to.data(), out.data(), n);
  expect_equal("permuted", out.values(), expected);
  const cudaError_t too_much =
      cudaFuncSetAttribute(permute, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20);
  expect_equal("too much", (int)too_much, (int)cudaErrorInvalidValue);
  cudaGetLastError();
  return verdict();
}
