// Products of small matrices by a warp, for every shape and type.
#include <mma.h>

#include <type_traits>

using namespace nvcuda;

// d = a b + c, with every operand as its layout says: `A`, `B` for the factors and `C` for the rest.
template <int m, int n, int k, class T, class Stored, class C, class LayoutA, class LayoutB>
__global__ void product_kernel(const Stored* a, const Stored* b, const C* c, C* d,
                               wmma::layout_t layout, bool saturates) {
  wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> left;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> right;
  wmma::fragment<wmma::accumulator, m, n, k, C> sum, start;
  const int stride_a = std::is_same<LayoutA, wmma::row_major>::value ? k : m;
  const int stride_b = std::is_same<LayoutB, wmma::row_major>::value ? n : k;
  const int stride_c = layout == wmma::mem_row_major ? n : m;
  wmma::load_matrix_sync(left, a, stride_a);
  wmma::load_matrix_sync(right, b, stride_b);
  wmma::load_matrix_sync(start, c, stride_c, layout);
  if constexpr (std::is_same<T, wmma::precision::tf32>::value) {
    for (int i = 0; i < left.num_elements; ++i) left.x[i] = wmma::__float_to_tf32(left.x[i]);
    for (int i = 0; i < right.num_elements; ++i) right.x[i] = wmma::__float_to_tf32(right.x[i]);
  }
  if constexpr (std::is_same<C, int>::value)
    wmma::mma_sync(sum, left, right, start, saturates);
  else
    wmma::mma_sync(sum, left, right, start);
  wmma::store_matrix_sync(d, sum, stride_c, layout);
}
#define PRODUCT(name, m, n, k, T, Stored, C, LayoutA, LayoutB, layout)                             \
  extern "C" void name(const void* a, const void* b, const void* c, void* d, int saturates) {      \
    product_kernel<m, n, k, T, Stored, C, wmma::LayoutA, wmma::LayoutB><<<1, 32>>>(                \
        (const Stored*)a, (const Stored*)b, (const C*)c, (C*)d, wmma::layout, saturates != 0);     \
  }
PRODUCT(half_float, 16, 16, 16, half, half, float, row_major, col_major, mem_row_major)
PRODUCT(half_half, 16, 16, 16, half, half, half, col_major, row_major, mem_col_major)
PRODUCT(half_tall, 32, 8, 16, half, half, float, row_major, row_major, mem_row_major)
PRODUCT(half_wide, 8, 32, 16, half, half, half, col_major, col_major, mem_row_major)
PRODUCT(bfloat16, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, row_major, row_major,
        mem_col_major)
PRODUCT(bfloat16_tall, 32, 8, 16, __nv_bfloat16, __nv_bfloat16, float, col_major, row_major,
        mem_row_major)
PRODUCT(bfloat16_wide, 8, 32, 16, __nv_bfloat16, __nv_bfloat16, float, row_major, col_major,
        mem_row_major)
PRODUCT(tf32, 16, 16, 8, wmma::precision::tf32, float, float, row_major, col_major, mem_row_major)
PRODUCT(signed_bytes, 16, 16, 16, signed char, signed char, int, row_major, col_major,
        mem_row_major)
PRODUCT(unsigned_bytes, 32, 8, 16, unsigned char, unsigned char, int, col_major, row_major,
        mem_col_major)
PRODUCT(doubles, 8, 8, 4, double, double, double, row_major, col_major, mem_row_major)

// A tiled product as tutorials write it: one warp a tile of 16 x 16, four warps a block, and
// alpha * a b + beta * c by the elements of the accumulators.
__global__ void gemm_kernel(const half* a, const half* b, const float* c, float* d, int n,
                            float alpha, float beta) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  const int tiles = n / 16, row = warp / tiles * 16, column = warp % tiles * 16;
  if (row >= n) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, start;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(left, a + row * n + k, n);
    wmma::load_matrix_sync(right, b + k * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::load_matrix_sync(start, c + row * n + column, n, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + beta * start.x[i];
  wmma::store_matrix_sync(d + row * n + column, sum, n, wmma::mem_row_major);
}
extern "C" void gemm(const void* a, const void* b, const float* c, float* d, int n) {
  const int warps = (n / 16) * (n / 16);
  gemm_kernel<<<(warps + 3) / 4, 128>>>((const half*)a, (const half*)b, c, d, n, 2.0f, -1.0f);
}

__global__ void sizes_kernel(int* out) {
  if (threadIdx.x) return;
  out[0] = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>::num_elements;
  out[1] = wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::row_major>::num_elements;
  out[2] = wmma::fragment<wmma::accumulator, 8, 32, 16, half>::num_elements;
  out[3] = wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::row_major>::num_elements;
  out[4] = wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::row_major>::num_elements;
  out[5] = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32,
                          wmma::row_major>::num_elements;
  out[6] = wmma::fragment<wmma::accumulator, 8, 8, 4, double>::num_elements;
}
extern "C" void sizes(int* out) { sizes_kernel<<<1, 32>>>(out); }
