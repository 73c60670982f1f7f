// Conversions and sums that say how they round, and numbers seen as their bits.
#include "../program.cuh"

__global__ void convert(const float* x, int* whole, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  whole[6 * i + 0] = __float2int_rn(x[i]);
  whole[6 * i + 1] = __float2int_rz(x[i]);
  whole[6 * i + 2] = __float2int_ru(x[i]);
  whole[6 * i + 3] = __float2int_rd(x[i]);
  whole[6 * i + 4] = (int)rintf(x[i]) * 10 + (int)roundf(x[i]);
  whole[6 * i + 5] = (int)floorf(x[i]) * 10 + (int)truncf(x[i]);
}

__global__ void add(float a, float b, float* sums, double* products, unsigned* bits) {
  sums[0] = __fadd_rn(a, b);
  sums[1] = __fadd_rz(a, b);
  sums[2] = __fadd_ru(a, b);
  sums[3] = __fadd_rd(a, b);
  products[0] = __dmul_rn((double)a, (double)b);
  products[1] = __fma_rn((double)a, 2.0, (double)b);
  bits[0] = __float_as_uint(a);
  bits[1] = (unsigned)__double2hiint(-2.0);
  bits[2] = __float_as_uint(__int_as_float(0x7f800000));
  bits[3] = __saturatef(1.5f) == 1.0f && __saturatef(-a) == 0.0f;
}

int main() {
  const std::vector<float> x = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 2.25f, -2.75f};
  const std::vector<int> expected = {0,  0,  1,  0,  1,   0,    //
                                     2,  1,  2,  1,  22,  11,   //
                                     2,  2,  3,  2,  23,  22,   //
                                     0,  0,  0,  -1, -1,  -10,  //
                                     -2, -1, -1, -2, -22, -21,  //
                                     2,  2,  3,  2,  22,  22,   //
                                     -3, -2, -2, -3, -33, -32};
  DeviceArray<float> device_x(x), sums(4);
  DeviceArray<int> whole(expected.size());
  convert<<<1, 32>>>(device_x.data(), whole.data(), (int)x.size());
  expect_equal("whole", whole.values(), expected);
  DeviceArray<double> products(2);
  DeviceArray<unsigned> bits(4);
  const float tiny = 1e-10f, next = std::nextafter(1.0f, 2.0f);
  add<<<1, 1>>>(1.0f, tiny, sums.data(), products.data(), bits.data());
  expect_equal("sums", sums.values(), std::vector<float>{1.0f, 1.0f, next, 1.0f});
  expect_equal("products", products.values(),
               std::vector<double>{(double)tiny, 2.0 + (double)tiny});
  expect_equal("bits", bits.values(),
               std::vector<unsigned>{0x3f800000u, 0xc0000000u, 0x7f800000u, 1u});
  return verdict();
}
