// A macro writes a kernel, its launcher and its reference for each element-wise function.
#include "../program.cuh"

#define FOR_EACH_INDEX(i, n) \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)
#define BLOCKS(n, threads) (((n) + (threads) - 1) / (threads))

#define ELEMENTWISE(name, expression)                                                           \
  __global__ void name##_kernel(const float* in, float* out, int n) {                           \
    FOR_EACH_INDEX(i, n) {                                                                      \
      const float x = in[i];                                                                    \
      out[i] = expression;                                                                      \
    }                                                                                           \
  }                                                                                             \
  void check_##name(const std::vector<float>& in) {                                             \
    DeviceArray<float> device_in(in), out(in.size());                                           \
    name##_kernel<<<BLOCKS(in.size(), 64), 64>>>(device_in.data(), out.data(), (int)in.size()); \
    std::vector<float> expected;                                                                \
    for (float x : in) expected.push_back(expression);                                          \
    expect_close(#name, out.values(), expected, 1e-5);                                          \
  }

ELEMENTWISE(relu, x > 0 ? x : 0.0f)
ELEMENTWISE(square, x* x)
ELEMENTWISE(sigmoid, 1 / (1 + expf(-x)))
ELEMENTWISE(softplus, log1pf(expf(x)))

#define LAUNCH(kernel, n, ...) kernel<<<BLOCKS(n, 32), 32>>>(__VA_ARGS__)

__global__ void iota(int* out, int n, int first, int step) {
  FOR_EACH_INDEX(i, n) out[i] = first + i * step;
}

int main() {
  const std::vector<float> x = random_floats(777, -5, 5);
  check_relu(x);
  check_square(x);
  check_sigmoid(x);
  check_softplus(x);
  DeviceArray<int> out(50);
  LAUNCH(iota, 50, out.data(), 50, 7, -2);
  std::vector<int> expected(50);
  for (int i = 0; i < 50; ++i) expected[i] = 7 - 2 * i;
  expect_equal("iota", out.values(), expected);
  return verdict();
}
