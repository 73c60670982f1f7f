// What host code asks of the CUDA runtime.
#include <cuda_runtime.h>

#include <cstring>

__global__ void increment(int* x, int n) {
  int i = threadIdx.x;
  if (i < n) x[i] += 1;
}

extern "C" int through_device_memory(int* host, int n) {
  int* device = nullptr;
  cudaStream_t stream;
  cudaEvent_t start, stop;
  if (cudaMalloc(&device, n * sizeof(int)) != cudaSuccess) return 1;
  if (cudaStreamCreate(&stream) != cudaSuccess) return 2;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, stream);
  cudaEventRecord(start, stream);
  increment<<<1, n, 0, stream>>>(device, n);
  cudaEventRecord(stop, stream);
  if (cudaStreamSynchronize(stream) != cudaSuccess) return 3;
  float ms = -1.0f;
  cudaEventElapsedTime(&ms, start, stop);
  if (!(ms >= 0.0f)) return 4;
  cudaMemcpy(host, device, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemset(device, 0, n * sizeof(int));
  cudaFree(device);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaStreamDestroy(stream);
  return cudaDeviceSynchronize();
}
extern "C" int device_facts(int* facts) {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 1;
  facts[0] = properties.warpSize;
  facts[1] = properties.maxThreadsPerBlock;
  facts[2] = properties.multiProcessorCount;
  cudaDeviceGetAttribute(&facts[3], cudaDevAttrMultiProcessorCount, 0);
  return strcmp(cudaGetErrorString(cudaSuccess), "no error");
}
extern "C" int swallowed_error(int* x) {
  increment<<<1, 4096>>>(x, 1);
  const bool was_told = cudaGetLastError() == cudaErrorInvalidConfiguration;
  return was_told && cudaGetLastError() == cudaSuccess ? 0 : 1;
}
