// Branch-free single-precision functions: what the C library offers instead is a call, and one call
// keeps a whole kernel from being vectorised.
//
// Correct for every input (infinities, NaN, subnormals); error at most 2.5 units in the last place,
// measured over each function's range. The polynomials are minimax fits on the intervals named.
// Included before <cmath>, whose overloads for float are made of these.
#pragma once

#include "language.h"

namespace cuda_on_cpu {

constexpr float infinity = __builtin_inff();
constexpr float not_a_number = __builtin_nanf("");

template <class To, class From>
CUDA_ON_CPU_INLINE constexpr To bit_cast(From value) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
  return __builtin_bit_cast(To, value);
}

// 2^n for -126 <= n <= 127.
CUDA_ON_CPU_INLINE constexpr float power_of_two(int n) { return bit_cast<float>((n + 127) << 23); }

// y * 2^n for -252 <= n <= 254, in two steps so that subnormal results come out right.
CUDA_ON_CPU_INLINE constexpr float scale(float y, int n) {
  const int half = n >> 1;
  return y * power_of_two(half) * power_of_two(n - half);
}

// e^r - 1 for |r| <= log(2) / 2.
CUDA_ON_CPU_INLINE constexpr float exp_minus_1_near_0(float r) {
  float p = 0.0013813142431899905f;
  p = __builtin_fmaf(p, r, 0.008369418792426586f);
  p = __builtin_fmaf(p, r, 0.04166845604777336f);
  p = __builtin_fmaf(p, r, 0.16666515171527863f);
  p = __builtin_fmaf(p, r, 0.4999999403953552f);
  return __builtin_fmaf(p, r * r, r);
}

// x - k log(2), with log(2) in two parts.
CUDA_ON_CPU_INLINE constexpr float less_log_2(float x, float k) {
  const float r = __builtin_fmaf(k, -0.693145751953125f, x);
  return __builtin_fmaf(k, -1.42860676533018e-6f, r);
}

CUDA_ON_CPU_INLINE constexpr float clamp(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

// e^x for -87 <= x <= 88.
CUDA_ON_CPU_INLINE constexpr float exp_inside(float x) {
  const float k = __builtin_rintf(x * 1.44269504088896341f);
  return (1.0f + exp_minus_1_near_0(less_log_2(x, k))) * power_of_two((int)k);
}

// NaN needs no care of its own here: it passes through the clamp and the polynomial.
CUDA_ON_CPU_INLINE constexpr float expf(float x) {
  const float inside = clamp(x, -104.0f, 89.0f);
  const float k = __builtin_rintf(inside * 1.44269504088896341f);
  return scale(1.0f + exp_minus_1_near_0(less_log_2(inside, k)), (int)k);
}

CUDA_ON_CPU_INLINE constexpr float exp2f(float x) {
  const float inside = clamp(x, -151.0f, 129.0f);
  const float k = __builtin_rintf(inside);
  return scale(1.0f + exp_minus_1_near_0((inside - k) * 0.69314718055994531f), (int)k);
}

CUDA_ON_CPU_INLINE constexpr float expm1f(float x) {
  const float inside = clamp(x, -18.0f, 88.7f);
  const float k = __builtin_rintf(inside * 1.44269504088896341f);
  const int n = (int)k;
  // 2^(n-1) twice: 2^128 itself is not a float.
  const float half = power_of_two(n - 1);
  const float p = exp_minus_1_near_0(less_log_2(inside, k));
  const float y = 2.0f * __builtin_fmaf(half, p, half - 0.5f);
  const float large = x > 88.7f ? expf(x) : y;
  return x * x < 1e-14f ? x : large;
}

// log(1 + f) for sqrt(1/2) - 1 <= f <= sqrt(2) - 1.
CUDA_ON_CPU_INLINE constexpr float log_near_1(float f) {
  float p = -0.07646037638187408f;
  p = __builtin_fmaf(p, f, 0.1277908831834793f);
  p = __builtin_fmaf(p, f, -0.13164198398590088f);
  p = __builtin_fmaf(p, f, 0.14199699461460114f);
  p = __builtin_fmaf(p, f, -0.16622763872146606f);
  p = __builtin_fmaf(p, f, 0.2000129222869873f);
  p = __builtin_fmaf(p, f, -0.25000837445259094f);
  p = __builtin_fmaf(p, f, 0.3333333134651184f);
  const float square = f * f;
  return __builtin_fmaf(p * f, square, __builtin_fmaf(-0.5f, square, f));
}

struct Decomposed {
  float fraction;  // from sqrt(1/2) to sqrt(2)
  float exponent;
};

CUDA_ON_CPU_INLINE constexpr Decomposed decompose(float x) {
  const bool is_subnormal = x < 1.17549435e-38f;
  const int bits = bit_cast<int>(is_subnormal ? x * 8388608.0f : x);
  const int shifted = bits - 0x3f3504f3;  // sqrt(1/2)
  const int exponent = shifted >> 23;
  const float fraction = bit_cast<float>(bits - (int)((unsigned)exponent << 23));
  return {fraction, (float)(is_subnormal ? exponent - 23 : exponent)};
}

// The logarithm's value where x is no positive finite number; `y` where it is.
CUDA_ON_CPU_INLINE constexpr float log_at_the_edges(float x, float y) {
  y = x == infinity ? infinity : y;
  y = x == 0.0f ? -infinity : y;
  return x >= 0.0f ? y : not_a_number;
}

CUDA_ON_CPU_INLINE constexpr float logf(float x) {
  const Decomposed d = decompose(x);
  const float low = __builtin_fmaf(d.exponent, 1.42860676533018e-6f, log_near_1(d.fraction - 1.0f));
  return log_at_the_edges(x, __builtin_fmaf(d.exponent, 0.693145751953125f, low));
}

CUDA_ON_CPU_INLINE constexpr float log2f(float x) {
  const Decomposed d = decompose(x);
  const float part = log_near_1(d.fraction - 1.0f) * 1.44269504088896341f;
  return log_at_the_edges(x, d.exponent + part);
}

CUDA_ON_CPU_INLINE constexpr float log10f(float x) {
  const Decomposed d = decompose(x);
  const float part = log_near_1(d.fraction - 1.0f) * 0.43429448190325182f;
  // log10(2), its first part with few enough digits that exponent * part is exact.
  const float low = __builtin_fmaf(d.exponent, 4.605039e-6f, part);
  return log_at_the_edges(x, __builtin_fmaf(d.exponent, 0.30102539062f, low));
}

CUDA_ON_CPU_INLINE constexpr float log1pf(float x) {
  const float u = 1.0f + x;
  // What rounding 1 + x has lost, as a first-order correction.
  const float lost = x - (u - 1.0f);
  const float y = logf(u) + (u > 0.0f && u < infinity ? lost / u : 0.0f);
  return x * x < 1e-14f ? x : y;
}

CUDA_ON_CPU_INLINE constexpr float tanhf(float x) {
  const float a = __builtin_fabsf(x), s = x * x;
  float p = -0.006282466929405928f;
  p = __builtin_fmaf(p, s, 0.021077753975987434f);
  p = __builtin_fmaf(p, s, -0.05385385826230049f);
  p = __builtin_fmaf(p, s, 0.13332602381706238f);
  p = __builtin_fmaf(p, s, -0.33333319425582886f);
  const float small = __builtin_fmaf(p * s, a, a);
  // tanh(10) is the float 1.
  const float large = 1.0f - 2.0f / (exp_inside(a > 10.0f ? 20.0f : 2.0f * a) + 1.0f);
  return __builtin_copysignf(a < 0.55f ? small : large, x);
}

CUDA_ON_CPU_INLINE constexpr float erff(float x) {
  const float a = __builtin_fabsf(x), s = x * x;
  float p = -0.0006021806038916111f;
  p = __builtin_fmaf(p, s, 0.004999601282179356f);
  p = __builtin_fmaf(p, s, -0.02677128277719021f);
  p = __builtin_fmaf(p, s, 0.11281955242156982f);
  p = __builtin_fmaf(p, s, -0.3761250674724579f);
  p = __builtin_fmaf(p, s, 0.12837915122509003f);
  const float small = __builtin_fmaf(p, a, a);
  // -log(erfc(b)) for 0.92 <= b <= 4; erf(4) is the float 1.
  const float b = a > 4.0f ? 4.0f : a;
  float q = -0.00019593826436903328f;
  q = __builtin_fmaf(q, b, 0.0030432266648858786f);
  q = __builtin_fmaf(q, b, -0.022226955741643906f);
  q = __builtin_fmaf(q, b, 0.10393166542053223f);
  q = __builtin_fmaf(q, b, 0.6371821761131287f);
  q = __builtin_fmaf(q, b, 1.1276756525039673f);
  q = __builtin_fmaf(q, b, 0.00019566653645597398f);
  const float large = 1.0f - exp_inside(-q);
  return __builtin_copysignf(a < 0.92f ? small : large, x);
}

// The other number where one is NaN. The C library's are calls on x86-64.
template <class T>
CUDA_ON_CPU_INLINE constexpr T larger(T a, T b) {
  const T picked = a > b ? a : b;
  return b != b ? a : picked;
}
template <class T>
CUDA_ON_CPU_INLINE constexpr T smaller(T a, T b) {
  const T picked = a < b ? a : b;
  return b != b ? a : picked;
}
CUDA_ON_CPU_INLINE constexpr float fmaxf(float a, float b) { return larger(a, b); }
CUDA_ON_CPU_INLINE constexpr float fminf(float a, float b) { return smaller(a, b); }
CUDA_ON_CPU_INLINE constexpr double fmax(double a, double b) { return larger(a, b); }
CUDA_ON_CPU_INLINE constexpr double fmin(double a, double b) { return smaller(a, b); }

}  // namespace cuda_on_cpu
