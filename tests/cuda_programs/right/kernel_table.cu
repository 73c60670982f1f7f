// The host picks kernels from a table of typed pointers, and hands one to a function that launches
// it.
#include "../program.cuh"

using Kernel = void (*)(int*, int);

__global__ void increment(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++x[i];
}
__global__ void negate(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = -x[i];
}
template <int Factor>
__global__ void multiply(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= Factor;
}
__global__ void rotate(int* x, int n) {
  __shared__ int tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int length = min((int)blockDim.x, n - (int)(blockIdx.x * blockDim.x));
  if (i < n) tile[threadIdx.x] = x[i];
  __syncthreads();
  if (i < n) x[i] = tile[(threadIdx.x + 1) % length];
}

struct Step {
  const char* name;
  Kernel kernel;
  int times;
};

void run(Kernel kernel, int* x, int n) { kernel<<<(n + 63) / 64, 64>>>(x, n); }

int main() {
  const int n = 100;
  std::vector<int> x = random_ints(n, -50, 50);
  DeviceArray<int> device_x(x);
  const Step steps[] = {{"increment", increment, 3},
                        {"negate", &negate, 1},
                        {"multiply", multiply<5>, 2},
                        {"rotate", rotate, 1}};
  for (const Step& step : steps)
    for (int k = 0; k < step.times; ++k) run(step.kernel, device_x.data(), n);
  for (int& value : x) value = -(value + 3) * 25;
  std::vector<int> expected(n);
  for (int i = 0; i < n; ++i) {
    const int first = i / 64 * 64, length = first + 64 < n ? 64 : n - first;
    expected[i] = x[first + (i - first + 1) % length];
  }
  expect_equal("x", device_x.values(), expected);
  return verdict();
}
