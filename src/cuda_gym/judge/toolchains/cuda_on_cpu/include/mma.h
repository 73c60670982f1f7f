// nvcuda::wmma: products of small matrices by a whole warp, correct and slow.
//
// Each lane holds its part of a matrix in x[]. Which elements those are is nobody's business but
// this file's; it is the same for all accumulators of a shape. Products are summed up in float, as
// on tensor cores, in the order of k; a GPU may add in another order.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_on_cpu/exchange.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

}  // namespace wmma
}  // namespace nvcuda

namespace cuda_on_cpu {
namespace wmma = nvcuda::wmma;

template <class T>
struct Element {
  using type = T;
};
template <>
struct Element<wmma::precision::tf32> {
  using type = float;
};

template <bool holds, class T, class F>
struct IfElse {
  using type = T;
};
template <class T, class F>
struct IfElse<false, T, F> {
  using type = F;
};
template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;

constexpr bool is_shape_of_16(int m, int n, int k) {
  return k == 16 && m * n == 256 && (m == 8 || m == 16 || m == 32);
}
template <class Use, int m, int n, int k, class T>
constexpr bool has_fragment() {
  const bool of_16 = is_shape_of_16(m, n, k), of_8 = m == 16 && n == 16 && k == 8;
  const bool of_double = m == 8 && n == 8 && k == 4;
  if (same<T, double>) return of_double;
  if (same<Use, wmma::accumulator>)
    return (same<T, float> && (of_16 || of_8)) || (of_16 && (same<T, half> || same<T, int>));
  return same<T, wmma::precision::tf32>
             ? of_8
             : of_16 && (same<T, half> || same<T, __nv_bfloat16> || same<T, signed char> ||
                         same<T, unsigned char>);
}

// Where an element of a lane is in the matrix, counted by rows. There may be more places in the
// lanes than elements: then some are held twice, as on a GPU.
template <int size>
CUDA_ON_CPU_INLINE int place_of(int element, int lane) {
  return (element * 32 + lane) % size;
}

}  // namespace cuda_on_cpu

namespace nvcuda {
namespace wmma {

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static_assert(cuda_on_cpu::has_fragment<Use, m, n, k, T>(),
                "wmma has no fragment of this shape and type on the cpu device");
  static constexpr bool is_a = cuda_on_cpu::same<Use, matrix_a>;
  static constexpr bool is_accumulator = cuda_on_cpu::same<Use, accumulator>;

 public:
  using element_type = T;
  using storage_element_type = typename cuda_on_cpu::Element<T>::type;
  static constexpr int num_rows = is_a || is_accumulator ? m : k;
  static constexpr int num_columns = is_a ? k : n;
  static constexpr int num_elements =
      cuda_on_cpu::same<T, __half> && !is_accumulator ? 16 : num_rows * num_columns / 32;
  static constexpr int num_storage_elements = num_elements;

  storage_element_type x[num_elements];
};

}  // namespace wmma
}  // namespace nvcuda

namespace cuda_on_cpu {

// Waiting is much code, and a kernel is compiled in one piece; the checking build wants to see which
// line of it accesses memory.
#if CUDA_ON_CPU_CHECKING
#define CUDA_ON_CPU_APART inline __attribute__((always_inline))
#else
#define CUDA_ON_CPU_APART __attribute__((noinline))
#endif

// The offset of an element in memory.
template <class Fragment>
CUDA_ON_CPU_INLINE size_t offset_of(int element, int lane, unsigned stride, bool is_by_rows) {
  const int place = place_of<Fragment::num_rows * Fragment::num_columns>(element, lane);
  const size_t row = place / Fragment::num_columns, column = place % Fragment::num_columns;
  return is_by_rows ? row * stride + column : column * stride + row;
}
template <class Fragment>
CUDA_ON_CPU_APART void load(Fragment& to, const typename Fragment::storage_element_type* from,
                             unsigned stride, bool is_by_rows) {
  __syncwarp();
#pragma GCC unroll 1
  for (int i = 0; i < Fragment::num_elements; ++i)
    to.x[i] = from[offset_of<Fragment>(i, (int)lane(), stride, is_by_rows)];
}

CUDA_ON_CPU_INLINE float finite(float v) {
  return v != v ? 0.0f : v > FLT_MAX ? FLT_MAX : v < -FLT_MAX ? -FLT_MAX : v;
}

// What the lanes have brought to a product; null where there is no such lane.
template <class D, class A, class B, class C>
struct Operands {
  D* d;
  const A* a;
  const B* b;
  const C* c;
};

// One lane computes for all. It reads what the others hold, which the checking build would take for
// stray accesses: hence without instrumentation. Functions of their own, and loops as they are
// written: unrolled into one, each product would take a second to compile.
#define CUDA_ON_CPU_UNCHECKED __attribute__((noinline, no_sanitize("thread")))

template <class All>
CUDA_ON_CPU_UNCHECKED void bring(All* to, const All& operands) {
  *to = operands;
}
template <class Sum, class Fragment>
CUDA_ON_CPU_UNCHECKED void gather(Sum* matrix, const Fragment& part, int lane) {
  constexpr int size = Fragment::num_rows * Fragment::num_columns;
  constexpr bool is_tf32 = same<typename Fragment::element_type, nvcuda::wmma::precision::tf32>;
#pragma GCC unroll 1
  for (int i = 0; i < Fragment::num_elements; ++i) {
    const auto element = part.x[i];
    // The last 13 digits of a float are no part of tf32.
    if constexpr (is_tf32)
      matrix[place_of<size>(i, lane)] = bit_cast<float>(bit_cast<unsigned>(element) & 0xffffe000u);
    else
      matrix[place_of<size>(i, lane)] = (Sum)element;
  }
}
template <class Sum, int m, int n, int k>
CUDA_ON_CPU_UNCHECKED void add_product(const Sum* a, const Sum* b, Sum* d) {
#pragma GCC unroll 1
  for (int i = 0; i < m; ++i)
#pragma GCC unroll 1
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j) d[i * n + j] += a[i * k + p] * b[p * n + j];
}
template <class Sum, class Fragment>
CUDA_ON_CPU_UNCHECKED void scatter(const Sum* matrix, Fragment& part, int lane, bool saturates) {
  using Element = typename Fragment::element_type;
#pragma GCC unroll 1
  for (int i = 0; i < Fragment::num_elements; ++i) {
    const Sum sum = matrix[place_of<Fragment::num_rows * Fragment::num_columns>(i, lane)];
    if constexpr (same<Element, int>)
      part.x[i] = saturates ? to_whole<int>((double)sum) : (int)sum;
    else
      part.x[i] = (Element)(saturates ? (Sum)finite((float)sum) : sum);
  }
}
template <class Sum, class D, class A, class B, class C>
CUDA_ON_CPU_UNCHECKED void multiply(const Operands<D, A, B, C> (&lanes)[32], bool saturates) {
  constexpr int m = D::num_rows, n = D::num_columns, k = A::num_columns;
  Sum a[m * k] = {}, b[k * n] = {}, d[m * n] = {};
  for (int lane = 0; lane < 32; ++lane) {
    if (!lanes[lane].d) continue;
    gather(a, *lanes[lane].a, lane);
    gather(b, *lanes[lane].b, lane);
    gather(d, *lanes[lane].c, lane);
  }
  add_product<Sum, m, n, k>(a, b, d);
  for (int lane = 0; lane < 32; ++lane)
    if (lanes[lane].d) scatter(d, *lanes[lane].d, lane, saturates);
}

}  // namespace cuda_on_cpu

namespace nvcuda {
namespace wmma {

template <class Use, int m, int n, int k, class T, class Layout, class Value>
inline void fill_fragment(fragment<Use, m, n, k, T, Layout>& to, const Value& value) {
  for (auto& element : to.x) element = value;
}

template <class Use, int m, int n, int k, class T, class Layout>
inline void load_matrix_sync(
    fragment<Use, m, n, k, T, Layout>& to,
    const typename fragment<Use, m, n, k, T, Layout>::storage_element_type* from,
    unsigned stride) {
  static_assert(!cuda_on_cpu::same<Use, accumulator>,
                "an accumulator is loaded with its layout as the last argument");
  cuda_on_cpu::load(to, from, stride, cuda_on_cpu::same<Layout, row_major>);
}
template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& to, const T* from, unsigned stride,
                             layout_t layout) {
  cuda_on_cpu::load(to, from, stride, layout == mem_row_major);
}
template <int m, int n, int k, class T>
CUDA_ON_CPU_APART void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& from, unsigned stride,
                              layout_t layout) {
  using Fragment = fragment<accumulator, m, n, k, T>;
  __syncwarp();
#pragma GCC unroll 1
  for (int i = 0; i < Fragment::num_elements; ++i)
    to[cuda_on_cpu::offset_of<Fragment>(i, (int)cuda_on_cpu::lane(), stride,
                                        layout == mem_row_major)] = from.x[i];
}

template <int m, int n, int k, class T, class LayoutA, class LayoutB, class D, class C>
CUDA_ON_CPU_APART void mma_sync(fragment<accumulator, m, n, k, D>& d,
                     const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                     const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                     const fragment<accumulator, m, n, k, C>& c, bool saturates = false) {
  using namespace cuda_on_cpu;
  using Wide = typename IfElse<same<D, double>, double, float>::type;
  using Sum = typename IfElse<same<D, int>, long long, Wide>::type;
  using All = Operands<fragment<accumulator, m, n, k, D>, fragment<matrix_a, m, n, k, T, LayoutA>,
                       fragment<matrix_b, m, n, k, T, LayoutB>, fragment<accumulator, m, n, k, C>>;
  All lanes[32] = {};
  All* const shared = reinterpret_cast<All*>(
      __shfl_sync(0xffffffffu, reinterpret_cast<unsigned long long>(&lanes), 0));
  bring(shared + lane(), All{&d, &a, &b, &c});
  __syncwarp();
  if (lane() == 0) multiply<Sum>(lanes, saturates);
  __syncwarp();
}

CUDA_ON_CPU_INLINE float __float_to_tf32(float v) {
  if (v - v != 0.0f) return v;
  // To nearest, and half way away from zero.
  return cuda_on_cpu::bit_cast<float>((cuda_on_cpu::bit_cast<unsigned>(v) + 0x1000u) & 0xffffe000u);
}

}  // namespace wmma
}  // namespace nvcuda
