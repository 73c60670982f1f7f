// finds: data race in global memory, line 11
// Each block also writes the rim of its tile, which belongs to its neighbours.
#include "../program.cuh"

constexpr int kTile = 32;

__global__ void blur(const float* x, float* out, int n) {
  const int i = blockIdx.x * kTile + threadIdx.x - 1;
  if (i < 0 || i >= n) return;
  const float left = i > 0 ? x[i - 1] : 0, right = i + 1 < n ? x[i + 1] : 0;
  out[i] = (left + x[i] + right) / 3;
}

int main() {
  const int n = 128;
  DeviceArray<float> x(random_floats(n)), out(n);
  blur<<<n / kTile, kTile + 2>>>(x.data(), out.data(), n);
  return out.values().size() != n;
}
