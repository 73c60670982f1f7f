// A seven-point stencil: each block marches along z and keeps three planes, one shared and two in
// registers.
#include "../program.cuh"

constexpr int kTile = 8;

__global__ void seven_points(const float* x, float* out, int depth, int height, int width) {
  __shared__ float plane[kTile + 2][kTile + 2];
  const int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  auto at = [=](int z, int y, int x_) {
    const bool inside = z >= 0 && z < depth && y >= 0 && y < height && x_ >= 0 && x_ < width;
    return inside ? x[(z * height + y) * width + x_] : 0.0f;
  };
  float below = 0, here = at(0, row, column);
  for (int z = 0; z < depth; ++z) {
    const float above = at(z + 1, row, column);
    plane[ty][tx] = here;
    if (threadIdx.x == 0) plane[ty][0] = at(z, row, column - 1);
    if (threadIdx.x == kTile - 1) plane[ty][kTile + 1] = at(z, row, column + 1);
    if (threadIdx.y == 0) plane[0][tx] = at(z, row - 1, column);
    if (threadIdx.y == kTile - 1) plane[kTile + 1][tx] = at(z, row + 1, column);
    __syncthreads();
    if (row < height && column < width)
      out[(z * height + row) * width + column] = below + above - 6 * here + plane[ty][tx - 1] +
                                                 plane[ty][tx + 1] + plane[ty - 1][tx] +
                                                 plane[ty + 1][tx];
    __syncthreads();
    below = here;
    here = above;
  }
}

int main() {
  const int depth = 5, height = 19, width = 13;
  std::vector<float> x(depth * height * width), expected(x.size());
  const std::vector<int> whole = random_ints(x.size(), -50, 50);
  for (size_t i = 0; i < x.size(); ++i) x[i] = whole[i];
  auto at = [&](int z, int r, int c) {
    const bool inside = z >= 0 && z < depth && r >= 0 && r < height && c >= 0 && c < width;
    return inside ? x[(z * height + r) * width + c] : 0.0f;
  };
  for (int z = 0; z < depth; ++z)
    for (int r = 0; r < height; ++r)
      for (int c = 0; c < width; ++c)
        expected[(z * height + r) * width + c] =
            at(z - 1, r, c) + at(z + 1, r, c) + at(z, r - 1, c) + at(z, r + 1, c) +
            at(z, r, c - 1) + at(z, r, c + 1) - 6 * at(z, r, c);
  DeviceArray<float> device_x(x), out(x.size());
  const dim3 grid((width + kTile - 1) / kTile, (height + kTile - 1) / kTile);
  seven_points<<<grid, dim3(kTile, kTile)>>>(device_x.data(), out.data(), depth, height, width);
  expect_equal("stencil", out.values(), expected);
  return verdict();
}
