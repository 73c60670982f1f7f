// Row sums of products in bfloat16, added up in float, and the rounding of the result.
#include "../program.cuh"

#include <cuda_bf16.h>

#include <cstring>

__global__ void row_dots(const __nv_bfloat162* a, const __nv_bfloat162* b, int rows, int pairs,
                         __nv_bfloat16* out) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float sum = 0;
  for (int p = threadIdx.x; p < pairs; p += 32) {
    const float2 x = __bfloat1622float2(a[row * pairs + p]),
                 y = __bfloat1622float2(b[row * pairs + p]);
    sum = fmaf(x.x, y.x, fmaf(x.y, y.y, sum));
  }
  for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) out[row] = __float2bfloat16(sum);
}

// To bfloat16 and back, by the bits: to the nearest, ties to even.
float rounded(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x7fffu + (bits >> 16 & 1)) & 0xffff0000u;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

int main() {
  const int rows = 9, columns = 70;
  const std::vector<int> a = random_ints(rows * columns, -100, 100),
                         b = random_ints(rows * columns, -100, 100, 7);
  std::vector<__nv_bfloat16> narrow_a(a.size()), narrow_b(b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    narrow_a[i] = __float2bfloat16((float)a[i]);
    narrow_b[i] = __int2bfloat16_rn(b[i]);
  }
  DeviceArray<__nv_bfloat16> device_a(narrow_a), device_b(narrow_b), out(rows);
  row_dots<<<3, dim3(32, 4)>>>((const __nv_bfloat162*)device_a.data(),
                               (const __nv_bfloat162*)device_b.data(), rows, columns / 2,
                               out.data());
  const std::vector<__nv_bfloat16> got = out.values();
  for (int r = 0; r < rows; ++r) {
    int sum = 0;
    for (int c = 0; c < columns; ++c) sum += a[r * columns + c] * b[r * columns + c];
    expect_equal("dot", __bfloat162float(got[r]), rounded((float)sum));
  }
  return verdict();
}
