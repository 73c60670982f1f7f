// Each warp sorts its 32 numbers by odd-even transposition in its own part of shared memory: the
// warps never wait for each other, only the lanes of one warp do.
#include "../program.cuh"

__global__ void sort_warps(const float* x, float* out) {
  extern __shared__ float buffer[];
  const int lane = threadIdx.x % 32;
  float* const mine = buffer + threadIdx.x - lane;
  mine[lane] = x[blockIdx.x * blockDim.x + threadIdx.x];
  __syncwarp();
  for (int step = 0; step < 32; ++step) {
    const int left = 2 * lane + step % 2;
    if (lane < 16 && left + 1 < 32) {
      const float a = mine[left], b = mine[left + 1];
      mine[left] = fminf(a, b);
      mine[left + 1] = fmaxf(a, b);
    }
    __syncwarp();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = mine[lane];
}

int main() {
  const int n = 2 * 96;
  const std::vector<float> x = random_floats(n);
  std::vector<float> expected = x;
  for (int first = 0; first < n; first += 32)
    for (int i = first + 1; i < first + 32; ++i)
      for (int k = i; k > first && expected[k] < expected[k - 1]; --k) {
        const float larger = expected[k - 1];
        expected[k - 1] = expected[k];
        expected[k] = larger;
      }
  DeviceArray<float> device_x(x), out(n);
  sort_warps<<<2, 96, 96 * sizeof(float)>>>(device_x.data(), out.data());
  expect_equal("sorted", out.values(), expected);
  return verdict();
}
