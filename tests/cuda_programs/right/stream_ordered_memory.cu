// Memory that is allocated and freed in the order of a stream, and memory of the host that the
// device reads in place.
#include "../program.cuh"

__global__ void squares(const int* x, long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (long long)x[i] * x[i];
}

int main() {
  const int n = 500;
  int* host;
  CHECK(cudaHostAlloc(&host, n * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < n; ++i) host[i] = 3 * i - 700;
  int* mapped;
  CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  long long* out;
  CHECK(cudaMallocAsync(&out, n * sizeof(long long), stream));
  squares<<<4, 128, 0, stream>>>(mapped, out, n);
  std::vector<long long> got(n);
  CHECK(cudaMemcpyAsync(got.data(), out, n * sizeof(long long), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(out, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; ++i) expect_equal("square", got[i], (3LL * i - 700) * (3LL * i - 700));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFreeHost(host));
  return verdict();
}
