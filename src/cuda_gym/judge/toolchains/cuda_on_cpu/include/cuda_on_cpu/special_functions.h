// Functions that CUDA has and the C library has not: erfinv, normcdf, rcbrt, sinpi, norm3d, ...
//
// In double precision exact to a few units in the last place; the forms for float are the same
// functions, rounded.
#pragma once

#include <cfloat>

#include "math.h"

namespace cuda_on_cpu {

constexpr double pi = 3.14159265358979323846;
constexpr double two_over_sqrt_pi = 1.12837916709551257390;
constexpr double sqrt_half = 0.70710678118654752440, sqrt_half_rest = -4.83364665672645672e-17;

// The sine of pi * x for |x| <= 1, in the quarter in which it is exact.
CUDA_ON_CPU_INLINE double sine_of_half_turns(double x) {
  const double a = __builtin_fabs(x), folded = a > 0.5 ? 1.0 - a : a;
  const double sine = folded > 0.25 ? __builtin_cos(pi * (0.5 - folded)) : __builtin_sin(pi * folded);
  return __builtin_copysign(sine, x);
}
CUDA_ON_CPU_INLINE double sinpi(double x) {
  return sine_of_half_turns(x - 2.0 * __builtin_rint(0.5 * x));
}
CUDA_ON_CPU_INLINE double cospi(double x) {
  const double turned = __builtin_fabs(x - 2.0 * __builtin_rint(0.5 * x));
  return turned == 0.5 ? 0.0 : sine_of_half_turns(0.5 - turned);
}

// e^(x^2) with the rounding of the square made good.
CUDA_ON_CPU_INLINE double exp_of_square(double x) {
  const double square = x * x, rest = __builtin_fma(x, x, -square);
  const double power = __builtin_exp(square);
  return __builtin_isinf(power) ? power : __builtin_fma(power, rest, power);
}

// e^(x^2) erfc(x): as a continued fraction where the two factors would leave the range.
static inline double erfcx(double x) {
  if (x < 2.0) return exp_of_square(x) * __builtin_erfc(x);
  if (x > 1e8) return 0.5 * two_over_sqrt_pi / x;
  double tail = x;
  for (int n = x < 5.0 ? 160 : 50; n > 0; --n) tail = x + 0.5 * n / tail;
  return 0.5 * two_over_sqrt_pi / tail;
}

// The y with erf(y) = w and erfc(y) = z, where w = 1 - z, each as exact as it can be.
static inline double erf_inverse(double w, double z) {
  // Winitzki's approximation, to 0.2 %.
  const double log_product = __builtin_log(z * (2.0 - z));
  const double t = 4.330746750799873 + 0.5 * log_product;
  double y = __builtin_sqrt(__builtin_sqrt(t * t - log_product / 0.147) - t);
  if (w <= 0.5) {
    // Halley's method.
    for (int i = 0; i < 3; ++i) {
      const double step = (__builtin_erf(y) - w) / (two_over_sqrt_pi * __builtin_exp(-y * y));
      y -= step / (1.0 + y * step);
    }
    return y;
  }
  // Newton's method for log(erfc(y)), which is nearly a parabola and does not underflow.
  const double log_z = __builtin_log(z);
  for (int i = 0; i < 5; ++i) {
    const double scaled = erfcx(y);
    y += (__builtin_log(scaled) - y * y - log_z) * scaled / two_over_sqrt_pi;
  }
  return y;
}
static inline double erfinv(double x) {
  const double w = __builtin_fabs(x);
  if (!(w < 1.0)) return w == 1.0 ? __builtin_copysign(__builtin_inf(), x) : __builtin_nan("");
  if (w < 1e-8) return x / two_over_sqrt_pi;
  return __builtin_copysign(erf_inverse(w, 1.0 - w), x);
}
static inline double erfcinv(double z) {
  if (!(z > 0.0 && z < 2.0))
    return z == 0.0 ? __builtin_inf() : z == 2.0 ? -__builtin_inf() : __builtin_nan("");
  if (z > 0.25) return erfinv(1.0 - z);
  return erf_inverse(1.0 - z, z);
}
static inline double normcdfinv(double p) { return -1.4142135623730950488 * erfcinv(2.0 * p); }
// What rounding x / sqrt(2) loses matters where the function is steep.
static inline double normcdf(double x) {
  const double t = -x * sqrt_half;
  const double lost = __builtin_fma(-x, sqrt_half, -t) - x * sqrt_half_rest;
  const double tail = __builtin_erfc(t);
  return __builtin_isinf(x) || __builtin_fabs(t) > 27.0
             ? 0.5 * tail
             : 0.5 * __builtin_fma(-two_over_sqrt_pi * __builtin_exp(-t * t), lost, tail);
}

// The modified Bessel functions of the first kind: their power series, whose terms are all
// positive, and Hankel's expansion for large x.
static inline double bessel_i(int order, double x) {
  const double a = __builtin_fabs(x);
  double sum = 1.0, term = 1.0;
  if (a < 25.0) {
    const double quarter = 0.25 * a * a;
    for (int k = 1; term > 1e-18 * sum; ++k) sum += term *= quarter / ((double)k * (k + order));
    sum *= order ? 0.5 * a : 1.0;
  } else {
    for (int k = 1; k < 30 && __builtin_fabs(term) > 1e-18; ++k)
      sum += term *= ((2.0 * k - 1.0) * (2.0 * k - 1.0) - 4.0 * order) / (8.0 * a * k);
    // In two factors: e^x alone overflows before the function does.
    const double root = __builtin_exp(0.5 * a);
    sum = __builtin_isinf(a) ? a : root * (sum / __builtin_sqrt(2.0 * pi * a)) * root;
  }
  return order && x < 0.0 ? -sum : x != x ? x : sum;
}

// The Euclidean length of `n` numbers, without overflow or underflow on the way.
template <class Real>
static inline double length(int n, const Real* x) {
  double largest = 0.0, sum = 0.0;
  bool is_nan = false;
  for (int i = 0; i < n; ++i) {
    largest = __builtin_fabs((double)x[i]) > largest ? __builtin_fabs((double)x[i]) : largest;
    is_nan |= x[i] != x[i];
  }
  // As with hypot an infinity outweighs a NaN.
  if (__builtin_isinf(largest)) return largest;
  if (is_nan) return __builtin_nan("");
  if (largest == 0.0) return 0.0;
  int exponent;
  (void)__builtin_frexp(largest, &exponent);
  for (int i = 0; i < n; ++i) {
    const double scaled = __builtin_ldexp((double)x[i], -exponent);
    sum += scaled * scaled;
  }
  return __builtin_ldexp(__builtin_sqrt(sum), exponent);
}

}  // namespace cuda_on_cpu

// sinpi and cospi may be functions of the C library by now, which have no overloads for float.
#define CUDA_ON_CPU_LIBRARY extern "C" inline __attribute__((gnu_inline, always_inline))
CUDA_ON_CPU_LIBRARY double sinpi(double x) noexcept { return cuda_on_cpu::sinpi(x); }
CUDA_ON_CPU_LIBRARY double cospi(double x) noexcept { return cuda_on_cpu::cospi(x); }
CUDA_ON_CPU_LIBRARY float sinpif(float x) noexcept { return (float)cuda_on_cpu::sinpi(x); }
CUDA_ON_CPU_LIBRARY float cospif(float x) noexcept { return (float)cuda_on_cpu::cospi(x); }
#undef CUDA_ON_CPU_LIBRARY
CUDA_ON_CPU_INLINE float sinpi(float x) { return sinpif(x); }
CUDA_ON_CPU_INLINE float cospi(float x) { return cospif(x); }

// A function of doubles, its form for float and its overload for float.
#define CUDA_ON_CPU_SPECIAL(name, value)                                                 \
  CUDA_ON_CPU_INLINE double name(double x) { return value; }                             \
  CUDA_ON_CPU_INLINE float name##f(float x) { return (float)name((double)x); }           \
  CUDA_ON_CPU_INLINE float name(float x) { return (float)name((double)x); }
CUDA_ON_CPU_SPECIAL(rcbrt, 1.0 / __builtin_cbrt(x))
CUDA_ON_CPU_SPECIAL(erfinv, cuda_on_cpu::erfinv(x))
CUDA_ON_CPU_SPECIAL(erfcinv, cuda_on_cpu::erfcinv(x))
CUDA_ON_CPU_SPECIAL(erfcx, cuda_on_cpu::erfcx(x))
CUDA_ON_CPU_SPECIAL(normcdf, cuda_on_cpu::normcdf(x))
CUDA_ON_CPU_SPECIAL(normcdfinv, cuda_on_cpu::normcdfinv(x))
CUDA_ON_CPU_SPECIAL(cyl_bessel_i0, cuda_on_cpu::bessel_i(0, x))
CUDA_ON_CPU_SPECIAL(cyl_bessel_i1, cuda_on_cpu::bessel_i(1, x))
#undef CUDA_ON_CPU_SPECIAL

CUDA_ON_CPU_INLINE void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
CUDA_ON_CPU_INLINE void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
CUDA_ON_CPU_INLINE void sincospi(float x, float* sine, float* cosine) {
  sincospif(x, sine, cosine);
}
CUDA_ON_CPU_INLINE void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
CUDA_ON_CPU_INLINE float exp10(float x) { return ::exp10f(x); }
CUDA_ON_CPU_INLINE float j0(float x) { return ::j0f(x); }
CUDA_ON_CPU_INLINE float j1(float x) { return ::j1f(x); }
CUDA_ON_CPU_INLINE float jn(int n, float x) { return ::jnf(n, x); }
CUDA_ON_CPU_INLINE float y0(float x) { return ::y0f(x); }
CUDA_ON_CPU_INLINE float y1(float x) { return ::y1f(x); }
CUDA_ON_CPU_INLINE float yn(int n, float x) { return ::ynf(n, x); }

CUDA_ON_CPU_INLINE double rhypot(double a, double b) { return 1.0 / __builtin_hypot(a, b); }
CUDA_ON_CPU_INLINE float rhypotf(float a, float b) { return 1.0f / __builtin_hypotf(a, b); }
CUDA_ON_CPU_INLINE double norm(int n, const double* x) { return cuda_on_cpu::length(n, x); }
CUDA_ON_CPU_INLINE float normf(int n, const float* x) { return (float)cuda_on_cpu::length(n, x); }
CUDA_ON_CPU_INLINE double rnorm(int n, const double* x) { return 1.0 / norm(n, x); }
CUDA_ON_CPU_INLINE float rnormf(int n, const float* x) {
  return (float)(1.0 / cuda_on_cpu::length(n, x));
}
CUDA_ON_CPU_INLINE double norm3d(double a, double b, double c) {
  const double x[] = {a, b, c};
  return norm(3, x);
}
CUDA_ON_CPU_INLINE double norm4d(double a, double b, double c, double d) {
  const double x[] = {a, b, c, d};
  return norm(4, x);
}
CUDA_ON_CPU_INLINE double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
CUDA_ON_CPU_INLINE double rnorm4d(double a, double b, double c, double d) {
  return 1.0 / norm4d(a, b, c, d);
}
// The squares of floats and their sums are far inside a double's range.
CUDA_ON_CPU_INLINE float norm3df(float a, float b, float c) {
  return (float)__builtin_sqrt((double)a * a + (double)b * b + (double)c * c);
}
CUDA_ON_CPU_INLINE float norm4df(float a, float b, float c, float d) {
  return (float)__builtin_sqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d);
}
CUDA_ON_CPU_INLINE float rnorm3df(float a, float b, float c) {
  return (float)(1.0 / __builtin_sqrt((double)a * a + (double)b * b + (double)c * c));
}
CUDA_ON_CPU_INLINE float rnorm4df(float a, float b, float c, float d) {
  return (float)(1.0 /
                 __builtin_sqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d));
}
