// finds: data race in global memory, line 7
// All threads add to one element.
#include "../program.cuh"

__global__ void sum(const float* x, int n, float* total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[0] += x[i];
}

int main() {
  DeviceArray<float> x(random_floats(200)), total(std::vector<float>(1, 0.0f));
  sum<<<2, 128>>>(x.data(), 200, total.data());
  return total.values().size() != 1;
}
