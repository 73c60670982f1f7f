// Six threads of the host, each with an array and a stream of its own, launch and copy at the same time:
// what one of them does is in order, whatever the others do.
#include <thread>

#include "../../../cuda_programs/program.cuh"

constexpr int rounds = 12, size = 20000;

__global__ void add(int* x, int amount) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) x[i] += amount;
}

__global__ void shift(const int* x, int* shifted) {
  __shared__ int tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < size ? x[i] : 0;
  __syncthreads();
  const int next = (threadIdx.x + 1) % 128;
  if (blockIdx.x * blockDim.x + next < size && i < size) shifted[i] = tile[next];
}

void work(int number, int* num_wrong) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  std::vector<int> host(size);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < size; ++i) host[i] = i + round;
    DeviceArray<int> x(host), shifted(host);
    add<<<(size + 127) / 128, 128, 0, stream>>>(x.data(), number);
    shift<<<(size + 127) / 128, 128, 0, stream>>>(x.data(), shifted.data());
    CHECK(cudaStreamSynchronize(stream));
    const std::vector<int> got = shifted.values();
    for (int i = 0; i < size; ++i) {
      const int from = i % 128 == 127 ? i - 127 : i + 1;
      if (from < size) *num_wrong += got[i] != from + round + number;
    }
  }
  CHECK(cudaStreamDestroy(stream));
}

int main() {
  std::vector<std::thread> threads;
  std::vector<int> num_wrong(6);
  for (int i = 0; i < 6; ++i) threads.emplace_back(work, i, &num_wrong[i]);
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 6; ++i) expect_equal("wrong elements", num_wrong[i], 0);
  return verdict();
}
