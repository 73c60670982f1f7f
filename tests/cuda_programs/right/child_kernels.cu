// Kernels that launch kernels: a quicksort whose halves are sorted by grids of their own, and a sum
// over a tree of grids. Nobody waits inside a kernel; the host sees all of it at the end.
#include <cstdio>

constexpr int count = 700;

__device__ int num_grids;

__global__ void quicksort(int* data, int left, int right, int depth) {
  atomicAdd(&num_grids, 1);
  const int pivot = data[(left + right) / 2];
  int low = left, high = right;
  while (low <= high) {
    while (data[low] < pivot) ++low;
    while (data[high] > pivot) --high;
    if (low > high) break;
    const int moved = data[low];
    data[low++] = data[high];
    data[high--] = moved;
  }
  if (left < high) quicksort<<<1, 1>>>(data, left, high, depth + 1);
  if (low < right) quicksort<<<1, 1, 0, cudaStreamPerThread>>>(data, low, right, depth + 1);
}

template <int fan_out>
__global__ void grow(unsigned long long* sums, int depth) {
  __shared__ unsigned long long of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  atomicAdd(&of_block, (unsigned long long)(threadIdx.x + 1));
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(sums + depth, of_block);
  if (depth < 3) grow<fan_out><<<fan_out, 64>>>(sums, depth + 1);
}

int main() {
  int host[count], *data;
  unsigned long long total[4], *sums;
  unsigned state = 12345;
  for (int& x : host) x = (state = state * 1664525u + 1013904223u) >> 16;
  cudaMalloc(&data, sizeof host);
  cudaMalloc(&sums, sizeof total);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(sums, 0, sizeof total);
  quicksort<<<1, 1>>>(data, 0, count - 1, 0);
  grow<3><<<2, 64>>>(sums, 0);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return printf("%s\n", cudaGetErrorString(error)), 1;
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(total, sums, sizeof total, cudaMemcpyDeviceToHost);
  for (int i = 1; i < count; ++i)
    if (host[i - 1] > host[i]) return printf("element %d is out of order\n", i), 1;
  unsigned long long grids = 2;
  for (int depth = 0; depth < 4; ++depth, grids *= 3)
    if (total[depth] != grids * (64 * 65 / 2))
      return printf("depth %d: %llu\n", depth, total[depth]), 1;
  printf("ok\n");
  return 0;
}
