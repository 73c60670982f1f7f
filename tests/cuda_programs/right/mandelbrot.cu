// The Mandelbrot set, with complex numbers and a kernel that come from headers of our own.
#include "../headers/fill.cuh"
#include "../program.cuh"

__host__ __device__ int escape_time(Complex c, int limit) {
  Complex z = {0, 0};
  int step = 0;
  while (step < limit && norm(z) <= 4.0f) {
    z = z * z + c;
    ++step;
  }
  return step;
}

__global__ void mandelbrot(int* steps, int width, int height, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  steps[y * width + x] = escape_time({-2.0f + 3.0f * x / width, -1.25f + 2.5f * y / height}, limit);
}

int main() {
  const int width = 48, height = 32, limit = 60;
  DeviceArray<int> steps(width * height);
  fill(steps.data(), width * height, -1);
  expect_equal("filled", steps.values(), std::vector<int>(width * height, -1));
  mandelbrot<<<dim3(3, 4), dim3(16, 8)>>>(steps.data(), width, height, limit);
  // Rounding differs from machine to machine at the border of the set, hence the few exceptions.
  const std::vector<int> got = steps.values();
  int inside = 0, different = 0;
  for (int i = 0; i < width * height; ++i) {
    const int x = i % width, y = i / width;
    different +=
        got[i] != escape_time({-2.0f + 3.0f * x / width, -1.25f + 2.5f * y / height}, limit);
    inside += got[i] == limit;
  }
  expect_equal("few differ", different <= width * height / 100, true);
  expect_equal("some inside, some not", inside > 200 && inside < 500, true);
  expect_equal("the origin", got[16 * width + 32], limit);
  expect_equal("a corner", got[0], 1);
  return verdict();
}
