// Two streams work on halves of an array, ordered by events; pinned memory and asynchronous copies.
#include "../program.cuh"

__global__ void add(float* x, int n, float amount) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += amount;
}
__global__ void multiply(float* x, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

int main() {
  const int n = 2048, half = n / 2;
  float *host, *device;
  CHECK(cudaMallocHost(&host, n * sizeof(float)));
  CHECK(cudaMalloc(&device, n * sizeof(float)));
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaStream_t streams[2];
  cudaEvent_t start, stop, added;
  CHECK(cudaStreamCreate(&streams[0]));
  CHECK(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventCreateWithFlags(&added, cudaEventDisableTiming));
  CHECK(cudaEventRecord(start, streams[0]));
  CHECK(cudaMemcpyAsync(device, host, n * sizeof(float), cudaMemcpyHostToDevice, streams[0]));
  add<<<n / 128, 128, 0, streams[0]>>>(device, n, 1.0f);
  CHECK(cudaEventRecord(added, streams[0]));
  CHECK(cudaStreamWaitEvent(streams[1], added, 0));
  multiply<<<half / 128, 128, 0, streams[0]>>>(device, half, 2.0f);
  multiply<<<half / 128, 128, 0, streams[1]>>>(device + half, half, 3.0f);
  for (int s = 0; s < 2; ++s)
    CHECK(cudaMemcpyAsync(host + s * half, device + s * half, half * sizeof(float),
                          cudaMemcpyDeviceToHost, streams[s]));
  CHECK(cudaEventRecord(stop, streams[0]));
  CHECK(cudaStreamSynchronize(streams[1]));
  CHECK(cudaEventSynchronize(stop));
  CHECK(cudaStreamQuery(streams[0]));
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  expect_equal("time runs forward", ms >= 0, true);
  expect_equal("event is over", (int)cudaEventQuery(added), (int)cudaSuccess);
  for (int i = 0; i < n; ++i) expect_equal("value", host[i], (i + 1) * (i < half ? 2.0f : 3.0f));
  for (cudaEvent_t event : {start, stop, added}) CHECK(cudaEventDestroy(event));
  for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFreeHost(host));
  CHECK(cudaFree(device));
  return verdict();
}
