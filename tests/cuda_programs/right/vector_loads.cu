// Vector types move several numbers at once; the elements that do not fill a vector go alone.
#include "../program.cuh"

__device__ __forceinline__ float4 operator*(float factor, float4 v) {
  return make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w);
}

__global__ void scale(const float* x, float* out, int n, float factor) {
  const int stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < n / 4; i += stride)
    reinterpret_cast<float4*>(out)[i] = factor * reinterpret_cast<const float4*>(x)[i];
  for (int i = n / 4 * 4 + first; i < n; i += stride) out[i] = factor * x[i];
}

__global__ void grey(const uchar4* pixels, short2* sums, double2* complex, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uchar4 p = pixels[i];
  sums[i] = make_short2(p.x + p.y + p.z, -p.w);
  const double2 z = complex[i];
  complex[i] = {z.x * z.x - z.y * z.y, 2 * z.x * z.y};
}

int main() {
  const int n = 1003;
  const std::vector<float> x = random_floats(n);
  std::vector<float> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = 3.0f * x[i];
  DeviceArray<float> device_x(x), out(n);
  scale<<<2, 64>>>(device_x.data(), out.data(), n, 3.0f);
  expect_equal("scaled", out.values(), expected);

  const int m = 100;
  std::vector<uchar4> pixels(m);
  std::vector<double2> complex(m);
  for (int i = 0; i < m; ++i) {
    pixels[i] = make_uchar4(i, 2 * i, 255 - i, i / 2);
    complex[i] = {i * 0.5, 1.0 - i};
  }
  DeviceArray<uchar4> device_pixels(pixels);
  DeviceArray<short2> sums(m);
  DeviceArray<double2> device_complex(complex);
  grey<<<1, 128>>>(device_pixels.data(), sums.data(), device_complex.data(), m);
  const std::vector<short2> got = sums.values();
  const std::vector<double2> squares = device_complex.values();
  for (int i = 0; i < m; ++i) {
    expect_equal("sum", (int)got[i].x, 2 * i + 255);
    expect_equal("minus", (int)got[i].y, -(i / 2));
    expect_equal("real", squares[i].x, i * 0.5 * i * 0.5 - (1.0 - i) * (1.0 - i));
    expect_equal("imaginary", squares[i].y, i * (1.0 - i));
  }
  expect_equal("sizes", sizeof(float3) + alignof(float4) + sizeof(longlong2) + alignof(char4),
               (size_t)48);
  return verdict();
}
