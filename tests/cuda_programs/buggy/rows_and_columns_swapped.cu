// finds: out of bounds read, line 9
// A matrix that is wider than high is indexed with its height as the pitch of a transposed one.
#include "../program.cuh"

__global__ void transpose(const float* x, float* out, int height, int width) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= height || column >= width) return;
  out[column * height + row] = x[column * width + row];
}

int main() {
  const int height = 20, width = 45;
  DeviceArray<float> x(random_floats(height * width)), out(height * width);
  transpose<<<dim3(6, 3), dim3(8, 8)>>>(x.data(), out.data(), height, width);
  return out.values().size() != height * width;
}
