// Two stages of shared memory: while one is worked on, the next is being copied.
#include "../program.cuh"

#include <cuda_pipeline.h>

constexpr int kThreads = 64, kStage = 4 * kThreads;

__global__ void weighted_sums(const float* x, const float* weights, int stages, float* out) {
  __shared__ __align__(16) float buffer[2][kStage];
  const int t = threadIdx.x;
  auto start_copy = [&](int stage) {
    __pipeline_memcpy_async(&buffer[stage % 2][4 * t],
                            x + (blockIdx.x * stages + stage) * kStage + 4 * t, 16);
    __pipeline_commit();
  };
  start_copy(0);
  float sum = 0;
  for (int stage = 0; stage < stages; ++stage) {
    if (stage + 1 < stages) start_copy(stage + 1);
    __pipeline_wait_prior(stage + 1 < stages ? 1 : 0);
    __syncthreads();
    for (int k = 0; k < 4; ++k)
      sum += weights[stage] * buffer[stage % 2][k * kThreads + (t + k) % kThreads];
    __syncthreads();
  }
  out[blockIdx.x * kThreads + t] = sum;
}

int main() {
  const int blocks = 3, stages = 5;
  const std::vector<int> whole = random_ints(blocks * stages * kStage, -20, 20);
  const std::vector<float> x(whole.begin(), whole.end()), weights = {1, -2, 3, 0.5f, 4};
  std::vector<float> expected(blocks * kThreads, 0.0f);
  for (int i = 0; i < blocks * kThreads; ++i)
    for (int stage = 0; stage < stages; ++stage)
      for (int k = 0; k < 4; ++k)
        expected[i] +=
            weights[stage] *
            x[(i / kThreads * stages + stage) * kStage + k * kThreads + (i + k) % kThreads];
  DeviceArray<float> device_x(x), device_weights(weights), out(expected.size());
  weighted_sums<<<blocks, kThreads>>>(device_x.data(), device_weights.data(), stages, out.data());
  expect_equal("sums", out.values(), expected);
  return verdict();
}
