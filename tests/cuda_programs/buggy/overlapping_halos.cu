// finds: data race in global memory, line 14
// Each block also writes the rim of its tile, which belongs to its neighbours, and gets it wrong
// there.
#include "../program.cuh"

constexpr int kTile = 32, kWidth = kTile + 2;

__global__ void blur(const float* x, float* out, int n) {
  __shared__ float tile[kWidth];
  const int t = threadIdx.x, i = blockIdx.x * kTile + t - 1;
  tile[t] = i >= 0 && i < n ? x[i] : 0;
  __syncthreads();
  const float left = t > 0 ? tile[t - 1] : 0, right = t + 1 < kWidth ? tile[t + 1] : 0;
  if (i >= 0 && i < n) out[i] = (left + tile[t] + right) / 3;
}

int main() {
  const int n = 128;
  DeviceArray<float> x(random_floats(n)), out(n);
  blur<<<n / kTile, kWidth>>>(x.data(), out.data(), n);
  return out.values().size() != n;
}
