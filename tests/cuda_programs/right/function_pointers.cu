// Device functions chosen at run time: from a table of the device, and through a pointer that the
// host reads from the device and passes back.
#include "../program.cuh"

typedef float (*Operation)(float, float);

__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ float larger(float a, float b) { return a > b ? a : b; }

__device__ Operation operations[3] = {add, multiply, larger};
__device__ Operation chosen = larger;

template <float (*Function)(float, float)>
__device__ float fold(const float* x, int n) {
  float value = x[0];
  for (int i = 1; i < n; ++i) value = Function(value, x[i]);
  return value;
}

__global__ void apply(const float* a, const float* b, float* out, int n, Operation last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Operation operation = i % 4 < 3 ? operations[i % 4] : last;
  out[i] = operation(a[i], b[i]);
}

__global__ void folds(const float* x, int n, float* out) {
  if (threadIdx.x == 0) out[0] = fold<add>(x, n);
  if (threadIdx.x == 1) out[1] = fold<larger>(x, n);
}

int main() {
  const int n = 100;
  const std::vector<int> whole_a = random_ints(n, -9, 9), whole_b = random_ints(n, -9, 9, 5);
  const std::vector<float> a(whole_a.begin(), whole_a.end()), b(whole_b.begin(), whole_b.end());
  Operation on_device;
  CHECK(cudaMemcpyFromSymbol(&on_device, chosen, sizeof on_device));
  DeviceArray<float> device_a(a), device_b(b), out(n), folded(2);
  apply<<<1, 128>>>(device_a.data(), device_b.data(), out.data(), n, on_device);
  folds<<<1, 2>>>(device_a.data(), n, folded.data());
  std::vector<float> expected(n), expected_folds = {0, a[0]};
  for (int i = 0; i < n; ++i) {
    expected[i] = i % 4 == 0 ? a[i] + b[i] : i % 4 == 1 ? a[i] * b[i] : std::fmax(a[i], b[i]);
    expected_folds[0] += a[i];
    expected_folds[1] = std::fmax(expected_folds[1], a[i]);
  }
  expect_equal("applied", out.values(), expected);
  expect_equal("folded", folded.values(), expected_folds);
  return verdict();
}
