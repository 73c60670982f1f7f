// Rounding to half precision: to the nearest even, up, down and to zero; overflow and what is no
// number.
#include "../program.cuh"

#include <cuda_fp16.h>

__global__ void convert(const float* x, unsigned short* bits, float* back, int* whole, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  bits[5 * i + 0] = __half_as_ushort(__float2half(x[i]));
  bits[5 * i + 1] = __half_as_ushort(__float2half_rz(x[i]));
  bits[5 * i + 2] = __half_as_ushort(__float2half_ru(x[i]));
  bits[5 * i + 3] = __half_as_ushort(__float2half_rd(x[i]));
  bits[5 * i + 4] = __half_as_ushort(__hmul(__float2half_rn(x[i]), __float2half_rn(0.5f)));
  back[i] = __half2float(__ushort_as_half(bits[5 * i]));
  whole[i] =
      __half2int_rn(__ushort_as_half(bits[5 * i])) - __half2int_rz(__ushort_as_half(bits[5 * i]));
}

int main() {
  const float inf = INFINITY;
  // 2048 + 1 lies between two halves; 65520 is the first that rounds to infinity; 2^-25 lies
  // between 0 and the smallest half; 2.75 keeps its fraction.
  const std::vector<float> x = {
      1.0f,  2049.0f, 2051.0f, -2049.0f, 65519.0f, 65520.0f, 2.98023223876953125e-8f,
      2.75f, -0.0f,   inf};
  const std::vector<unsigned short> expected = {0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3800,  //
                                                0x6800, 0x6800, 0x6801, 0x6800, 0x6400,  //
                                                0x6802, 0x6801, 0x6802, 0x6801, 0x6402,  //
                                                0xe800, 0xe800, 0xe800, 0xe801, 0xe400,  //
                                                0x7bff, 0x7bff, 0x7c00, 0x7bff, 0x77ff,  //
                                                0x7c00, 0x7bff, 0x7c00, 0x7bff, 0x7c00,  //
                                                0x0000, 0x0000, 0x0001, 0x0000, 0x0000,  //
                                                0x4180, 0x4180, 0x4180, 0x4180, 0x3d80,  //
                                                0x8000, 0x8000, 0x8000, 0x8000, 0x8000,  //
                                                0x7c00, 0x7c00, 0x7c00, 0x7c00, 0x7c00};
  const int n = (int)x.size();
  DeviceArray<float> device_x(x), back(n);
  DeviceArray<unsigned short> bits(5 * n);
  DeviceArray<int> whole(n);
  convert<<<1, 32>>>(device_x.data(), bits.data(), back.data(), whole.data(), n);
  expect_equal("bits", bits.values(), expected);
  const std::vector<float> got = back.values();
  const std::vector<float> rounded = {1, 2048, 2052, -2048, 65504, inf, 0, 2.75f, 0, inf};
  for (int i = 0; i < n; ++i) expect_equal("back", got[i] == rounded[i], true);
  expect_equal("2.75 to the nearest, less its whole part", whole.values()[7], 1);
  return verdict();
}
