// A convolution over channels: weights in constant memory, the image tile with its rim in shared
// memory.
#include "../program.cuh"

constexpr int kTile = 8, kRadius = 2, kWidth = 2 * kRadius + 1, kChannels = 3;

__constant__ float weights[kChannels][kWidth][kWidth];

__global__ void convolve(const float* image, float* out, int height, int width) {
  constexpr int side = kTile + 2 * kRadius;
  __shared__ float tile[kChannels][side][side];
  const int left = blockIdx.x * kTile - kRadius, top = blockIdx.y * kTile - kRadius;
  for (int channel = threadIdx.z; channel < kChannels; channel += blockDim.z)
    for (int y = threadIdx.y; y < side; y += kTile)
      for (int x = threadIdx.x; x < side; x += kTile) {
        const int row = top + y, column = left + x;
        const bool inside = row >= 0 && row < height && column >= 0 && column < width;
        tile[channel][y][x] = inside ? image[(channel * height + row) * width + column] : 0.0f;
      }
  __syncthreads();
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  if (threadIdx.z || row >= height || column >= width) return;
  float sum = 0;
  for (int channel = 0; channel < kChannels; ++channel)
    for (int y = 0; y < kWidth; ++y)
      for (int x = 0; x < kWidth; ++x)
        sum = fmaf(weights[channel][y][x], tile[channel][threadIdx.y + y][threadIdx.x + x], sum);
  out[row * width + column] = sum;
}

int main() {
  const int height = 21, width = 18;
  const std::vector<int> pixels = random_ints(kChannels * height * width, 0, 50);
  const std::vector<int> taps = random_ints(kChannels * kWidth * kWidth, -4, 4, 3);
  const std::vector<float> image(pixels.begin(), pixels.end()), filter(taps.begin(), taps.end());
  CHECK(cudaMemcpyToSymbol(weights, filter.data(), filter.size() * sizeof(float)));
  DeviceArray<float> device_image(image), out(height * width);
  convolve<<<dim3((width + 7) / 8, (height + 7) / 8), dim3(8, 8, 2)>>>(device_image.data(),
                                                                       out.data(), height, width);
  std::vector<float> expected(height * width, 0.0f);
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column)
      for (int k = 0; k < kChannels * kWidth * kWidth; ++k) {
        const int channel = k / (kWidth * kWidth), y = row + k / kWidth % kWidth - kRadius,
                  x = column + k % kWidth - kRadius;
        if (y >= 0 && y < height && x >= 0 && x < width)
          expected[row * width + column] += filter[k] * image[(channel * height + y) * width + x];
      }
  expect_equal("convolution", out.values(), expected);
  return verdict();
}
