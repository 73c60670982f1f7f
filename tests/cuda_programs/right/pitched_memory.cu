// A two-dimensional array whose rows are padded by the allocator, and copies of parts of it.
#include "../program.cuh"

__global__ void flip_rows(char* base, size_t pitch, int height, int width) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height / 2) return;
  float* const upper = reinterpret_cast<float*>(base + row * pitch);
  float* const lower = reinterpret_cast<float*>(base + (height - 1 - row) * pitch);
  const float value = upper[column];
  upper[column] = lower[column];
  lower[column] = value;
}

int main() {
  const int height = 17, width = 29;
  const std::vector<float> x = random_floats(height * width);
  float* device;
  size_t pitch;
  CHECK(cudaMallocPitch(&device, &pitch, width * sizeof(float), height));
  expect_equal("pitch", pitch >= width * sizeof(float) && pitch % sizeof(float) == 0, true);
  CHECK(cudaMemcpy2D(device, pitch, x.data(), width * sizeof(float), width * sizeof(float), height,
                     cudaMemcpyHostToDevice));
  flip_rows<<<dim3(2, 3), dim3(16, 4)>>>((char*)device, pitch, height, width);
  CHECK(cudaGetLastError());
  std::vector<float> flipped(height * width), window(5 * 7);
  CHECK(cudaMemcpy2D(flipped.data(), width * sizeof(float), device, pitch, width * sizeof(float),
                     height, cudaMemcpyDeviceToHost));
  const char* corner = (const char*)device + 3 * pitch + 10 * sizeof(float);
  CHECK(cudaMemcpy2D(window.data(), 7 * sizeof(float), corner, pitch, 7 * sizeof(float), 5,
                     cudaMemcpyDeviceToHost));
  for (int r = 0; r < height; ++r)
    for (int c = 0; c < width; ++c)
      expect_equal("flipped", flipped[r * width + c], x[(height - 1 - r) * width + c]);
  for (int r = 0; r < 5; ++r)
    for (int c = 0; c < 7; ++c)
      expect_equal("window", window[r * 7 + c], flipped[(r + 3) * width + c + 10]);
  CHECK(cudaMemset2D(device, pitch, 0, 8 * sizeof(float), height));
  CHECK(cudaMemcpy2D(flipped.data(), width * sizeof(float), device, pitch, width * sizeof(float),
                     height, cudaMemcpyDeviceToHost));
  for (int r = 0; r < height; ++r)
    for (int c = 0; c < width; ++c)
      expect_equal("cleared", flipped[r * width + c],
                   c < 8 ? 0.0f : x[(height - 1 - r) * width + c]);
  CHECK(cudaFree(device));
  return verdict();
}
