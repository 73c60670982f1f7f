// Coefficients and a table in constant memory: with initial values, and set by the host.
#include "../program.cuh"

struct Window {
  int width;
  float weights[9];
};

__constant__ Window window;
__constant__ float scale = 2.0f;
namespace tables {
__constant__ int offsets[2][3] = {{-1, 0, 1}, {10, 20, 30}};
}

__global__ void convolve(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < window.width; ++k) {
    const int at = i + k - window.width / 2;
    if (at >= 0 && at < n) sum += window.weights[k] * x[at];
  }
  out[i] = scale * sum + tables::offsets[i % 2][i % 3];
}

int main() {
  const int n = 333;
  const std::vector<int> whole = random_ints(n, -8, 8);
  const std::vector<float> x(whole.begin(), whole.end());
  DeviceArray<float> device_x(x), out(n);
  for (int width : {3, 9}) {
    Window host = {width, {1, 2, 3, 4, 5, 4, 3, 2, 1}};
    CHECK(cudaMemcpyToSymbol(window, &host, sizeof host));
    const float middle = -0.5f;
    CHECK(cudaMemcpyToSymbol(window, &middle, sizeof middle,
                             offsetof(Window, weights) + width / 2 * sizeof(float)));
    host.weights[width / 2] = middle;
    convolve<<<6, 64>>>(device_x.data(), out.data(), n);
    std::vector<float> expected(n);
    for (int i = 0; i < n; ++i) {
      float sum = 0;
      for (int k = 0; k < width; ++k)
        if (i + k - width / 2 >= 0 && i + k - width / 2 < n)
          sum += host.weights[k] * x[i + k - width / 2];
      expected[i] = 2 * sum + (i % 2 ? 10 * (i % 3 + 1) : i % 3 - 1);
    }
    expect_equal("convolution", out.values(), expected);
  }
  return verdict();
}
