// finds: data race in global memory, line 7
// Blocks count into the same bins with ordinary additions.
#include "../program.cuh"

__global__ void histogram(const unsigned char* text, int n, int* bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    bins[text[i] / 16]++;
}

int main() {
  std::vector<unsigned char> text(1000);
  for (size_t i = 0; i < text.size(); ++i) text[i] = (unsigned char)(i * 7);
  DeviceArray<unsigned char> device_text(text);
  DeviceArray<int> bins(std::vector<int>(16, 0));
  histogram<<<4, 64>>>(device_text.data(), 1000, bins.data());
  return bins.values().size() != 16;
}
