// Arithmetic with its direction of rounding in its name: __fadd_rz, __dmul_ru, __frcp_rn, ...
//
// The processor rounds to nearest; the other directions follow from what that has lost. Exact for
// every float, and for doubles but where a result or its error is below the normal range.
#pragma once

#include "conversions.h"
#include "rounding.h"

namespace cuda_on_cpu {

// Sums and products that the compiler must not fuse with what is around them: that is what the
// forms to nearest are for. Written as fused operations they have nothing left to fuse.
CUDA_ON_CPU_INLINE float plain_product(float a, float b) { return __builtin_fmaf(a, b, -0.0f); }
CUDA_ON_CPU_INLINE double plain_product(double a, double b) { return __builtin_fma(a, b, -0.0); }
#if defined(__clang__)
template <class Real>
CUDA_ON_CPU_INLINE Real plain_sum(Real a, Real b) {
#pragma clang fp contract(off)
  return a + b;
}
#else
CUDA_ON_CPU_INLINE float plain_sum(float a, float b) { return __builtin_fmaf(a, 1.0f, b); }
CUDA_ON_CPU_INLINE double plain_sum(double a, double b) { return __builtin_fma(a, 1.0, b); }
#endif

// A quotient and a root of floats as a double with an odd last digit.
CUDA_ON_CPU_INLINE double quotient_to_odd(double a, double b) {
  const double quotient = a / b, rest = __builtin_fma(-quotient, b, a);
  return to_odd(quotient, b < 0.0 ? -rest : rest);
}
CUDA_ON_CPU_INLINE double root_to_odd(double a) {
  const double root = __builtin_sqrt(a);
  return to_odd(root, __builtin_fma(-root, root, a));
}

template <Direction direction>
CUDA_ON_CPU_INLINE double moved(double nearest, double error) {
  // An overflow to infinity has no rest to look at: it is always too far from zero.
  if (__builtin_isinf(nearest)) error = nearest > 0.0 ? -1.0 : 1.0;
  return directed<direction, uint64_t>(nearest, error);
}
template <Direction direction>
CUDA_ON_CPU_INLINE double sum_of_doubles(double a, double b) {
  const double sum = plain_sum(a, b);
  if (__builtin_isinf(a) || __builtin_isinf(b)) return sum;
  const double part = sum - a;
  return moved<direction>(sum, (a - (sum - part)) + (b - part));
}
template <Direction direction>
CUDA_ON_CPU_INLINE double product_of_doubles(double a, double b) {
  const double product = plain_product(a, b);
  if (__builtin_isinf(a) || __builtin_isinf(b)) return product;
  return moved<direction>(product, __builtin_fma(a, b, -product));
}
template <Direction direction>
CUDA_ON_CPU_INLINE double quotient_of_doubles(double a, double b) {
  const double quotient = a / b;
  if (b == 0.0 || __builtin_isinf(a) || __builtin_isinf(b)) return quotient;
  const double rest = __builtin_fma(-quotient, b, a);
  return moved<direction>(quotient, b < 0.0 ? -rest : rest);
}
template <Direction direction>
CUDA_ON_CPU_INLINE double root_of_double(double a) {
  const double root = __builtin_sqrt(a);
  if (__builtin_isinf(a)) return root;
  return moved<direction>(root, __builtin_fma(-root, root, a));
}
struct Parts {
  double sum, lost;
};
CUDA_ON_CPU_INLINE Parts exact_sum(double a, double b) {
  const double sum = plain_sum(a, b), part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
// The error of a fused operation as a sum of doubles (Boldo and Muller 2005).
template <Direction direction>
CUDA_ON_CPU_INLINE double fused_of_doubles(double a, double b, double c) {
  const double nearest = __builtin_fma(a, b, c);
  if (__builtin_isinf(a) || __builtin_isinf(b) || __builtin_isinf(c)) return nearest;
  const double high = plain_product(a, b), low = __builtin_fma(a, b, -high);
  const Parts with_c = exact_sum(c, low), all = exact_sum(high, with_c.sum);
  return moved<direction>(nearest, ((all.sum - nearest) + all.lost) + with_c.lost);
}

}  // namespace cuda_on_cpu

CUDA_ON_CPU_INLINE float __fadd_rn(float a, float b) { return cuda_on_cpu::plain_sum(a, b); }
CUDA_ON_CPU_INLINE float __fsub_rn(float a, float b) { return cuda_on_cpu::plain_sum(a, -b); }
CUDA_ON_CPU_INLINE float __fmul_rn(float a, float b) { return cuda_on_cpu::plain_product(a, b); }
CUDA_ON_CPU_INLINE float __fdiv_rn(float a, float b) { return a / b; }
CUDA_ON_CPU_INLINE float __frcp_rn(float a) { return 1.0f / a; }
CUDA_ON_CPU_INLINE float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
CUDA_ON_CPU_INLINE float __frsqrt_rn(float a) { return (float)(1.0 / __builtin_sqrt((double)a)); }
CUDA_ON_CPU_INLINE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
CUDA_ON_CPU_INLINE float __fmaf_ieee_rn(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
CUDA_ON_CPU_INLINE double __dadd_rn(double a, double b) { return cuda_on_cpu::plain_sum(a, b); }
CUDA_ON_CPU_INLINE double __dsub_rn(double a, double b) { return cuda_on_cpu::plain_sum(a, -b); }
CUDA_ON_CPU_INLINE double __dmul_rn(double a, double b) { return cuda_on_cpu::plain_product(a, b); }
CUDA_ON_CPU_INLINE double __ddiv_rn(double a, double b) { return a / b; }
CUDA_ON_CPU_INLINE double __drcp_rn(double a) { return 1.0 / a; }
CUDA_ON_CPU_INLINE double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
CUDA_ON_CPU_INLINE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }

#define CUDA_ON_CPU_FLOAT(name, parameters, direction, value)                     \
  CUDA_ON_CPU_INLINE float name parameters {                                      \
    return cuda_on_cpu::to_float<cuda_on_cpu::Direction::direction>(value);       \
  }
#define CUDA_ON_CPU_DOUBLE(name, parameters, direction, function, ...)                    \
  CUDA_ON_CPU_INLINE double name parameters {                                             \
    return cuda_on_cpu::function<cuda_on_cpu::Direction::direction>(__VA_ARGS__);         \
  }
#define CUDA_ON_CPU_ROUNDED(suffix, direction)                                                     \
  CUDA_ON_CPU_FLOAT(__fadd_##suffix, (float a, float b), direction,                                \
                    cuda_on_cpu::sum_to_odd(a, b))                                                 \
  CUDA_ON_CPU_FLOAT(__fsub_##suffix, (float a, float b), direction,                                \
                    cuda_on_cpu::sum_to_odd(a, -b))                                                \
  CUDA_ON_CPU_FLOAT(__fmul_##suffix, (float a, float b), direction, (double)a * b)                 \
  CUDA_ON_CPU_FLOAT(__fdiv_##suffix, (float a, float b), direction,                                \
                    cuda_on_cpu::quotient_to_odd(a, b))                                            \
  CUDA_ON_CPU_FLOAT(__frcp_##suffix, (float a), direction, cuda_on_cpu::quotient_to_odd(1.0, a))   \
  CUDA_ON_CPU_FLOAT(__fsqrt_##suffix, (float a), direction, cuda_on_cpu::root_to_odd(a))           \
  CUDA_ON_CPU_FLOAT(__fmaf_##suffix, (float a, float b, float c), direction,                       \
                    cuda_on_cpu::sum_to_odd((double)a * b, c))                                     \
  CUDA_ON_CPU_FLOAT(__fmaf_ieee_##suffix, (float a, float b, float c), direction,                  \
                    cuda_on_cpu::sum_to_odd((double)a * b, c))                                     \
  CUDA_ON_CPU_DOUBLE(__dadd_##suffix, (double a, double b), direction, sum_of_doubles, a, b)       \
  CUDA_ON_CPU_DOUBLE(__dsub_##suffix, (double a, double b), direction, sum_of_doubles, a, -b)      \
  CUDA_ON_CPU_DOUBLE(__dmul_##suffix, (double a, double b), direction, product_of_doubles, a, b)   \
  CUDA_ON_CPU_DOUBLE(__ddiv_##suffix, (double a, double b), direction, quotient_of_doubles, a, b)  \
  CUDA_ON_CPU_DOUBLE(__drcp_##suffix, (double a), direction, quotient_of_doubles, 1.0, a)          \
  CUDA_ON_CPU_DOUBLE(__dsqrt_##suffix, (double a), direction, root_of_double, a)                   \
  CUDA_ON_CPU_DOUBLE(__fma_##suffix, (double a, double b, double c), direction, fused_of_doubles,  \
                     a, b, c)
CUDA_ON_CPU_ROUNDED(rz, zero)
CUDA_ON_CPU_ROUNDED(rd, down)
CUDA_ON_CPU_ROUNDED(ru, up)
#undef CUDA_ON_CPU_ROUNDED
#undef CUDA_ON_CPU_DOUBLE
#undef CUDA_ON_CPU_FLOAT
