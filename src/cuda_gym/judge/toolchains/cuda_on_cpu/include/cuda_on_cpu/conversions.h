// Conversions between numbers, in each of the four directions of rounding.
#pragma once

#include <cstdint>

#include "fast_math.h"
#include "rounding.h"

// Out of range saturates, as on a GPU; a plain cast in C++ may give anything. NaN gives 0, and where
// either side has 64 bits the number of which only the highest bit is set.
namespace cuda_on_cpu {
template <class Whole, class Real>
CUDA_ON_CPU_INLINE constexpr Whole to_whole(Real v) {
  constexpr bool is_signed = (Whole)-1 < (Whole)0;
  constexpr int bits = 8 * sizeof(Whole) - is_signed;
  constexpr Real limit = (Real)(1ull << (bits - 1)) * 2;
  constexpr Whole largest = (Whole)(~0ull >> (64 - bits));
  constexpr bool is_wide = sizeof(Whole) == 8 || sizeof(Real) == 8;
  constexpr Whole of_nan = is_wide ? (Whole)(1ull << (8 * sizeof(Whole) - 1)) : (Whole)0;
  if (v != v) return of_nan;
  if (v >= limit) return largest;
  if (v < (is_signed ? -limit : (Real)0)) return is_signed ? (Whole)(-largest - 1) : (Whole)0;
  return (Whole)v;
}
}  // namespace cuda_on_cpu
#define CUDA_ON_CPU_CONVERT(real, R, name, Whole, f)                                               \
  CUDA_ON_CPU_INLINE Whole __##real##2##name##_rn(R v) {                                           \
    return cuda_on_cpu::to_whole<Whole>(__builtin_rint##f(v));                                     \
  }                                                                                                \
  CUDA_ON_CPU_INLINE Whole __##real##2##name##_rz(R v) { return cuda_on_cpu::to_whole<Whole>(v); } \
  CUDA_ON_CPU_INLINE Whole __##real##2##name##_rd(R v) {                                           \
    return cuda_on_cpu::to_whole<Whole>(__builtin_floor##f(v));                                    \
  }                                                                                                \
  CUDA_ON_CPU_INLINE Whole __##real##2##name##_ru(R v) {                                           \
    return cuda_on_cpu::to_whole<Whole>(__builtin_ceil##f(v));                                     \
  }
CUDA_ON_CPU_CONVERT(float, float, int, int, f)
CUDA_ON_CPU_CONVERT(float, float, uint, unsigned, f)
CUDA_ON_CPU_CONVERT(float, float, ll, long long, f)
CUDA_ON_CPU_CONVERT(float, float, ull, unsigned long long, f)
CUDA_ON_CPU_CONVERT(double, double, int, int, )
CUDA_ON_CPU_CONVERT(double, double, uint, unsigned, )
CUDA_ON_CPU_CONVERT(double, double, ll, long long, )
CUDA_ON_CPU_CONVERT(double, double, ull, unsigned long long, )
#undef CUDA_ON_CPU_CONVERT

namespace cuda_on_cpu {
// A whole number as a real one. The nearest is at most 2^64, so that 128 bits hold it.
template <Direction direction, class Real, class Whole>
CUDA_ON_CPU_INLINE constexpr Real to_real(Whole v) {
  using Bits = typename BitsOf<Real>::type;
  const Real nearest = (Real)v;
  const __int128 rounded = (__int128)nearest, exact = v;
  return directed<direction, Bits>(nearest, (exact > rounded) - (exact < rounded));
}
template <Direction direction>
CUDA_ON_CPU_INLINE constexpr float to_float(double v) {
  const float nearest = (float)v;
  return directed<direction, uint32_t>(nearest, (v > nearest) - (v < nearest));
}
}  // namespace cuda_on_cpu
// The plain cast where it is exact or rounds to nearest: that is what the compiler vectorises.
#define CUDA_ON_CPU_CONVERT(name, Whole, real, Real)                                    \
  CUDA_ON_CPU_INLINE Real __##name##2##real##_rn(Whole v) { return (Real)v; }           \
  CUDA_ON_CPU_INLINE Real __##name##2##real##_rz(Whole v) {                             \
    return cuda_on_cpu::to_real<cuda_on_cpu::Direction::zero, Real>(v);                 \
  }                                                                                     \
  CUDA_ON_CPU_INLINE Real __##name##2##real##_rd(Whole v) {                             \
    return cuda_on_cpu::to_real<cuda_on_cpu::Direction::down, Real>(v);                 \
  }                                                                                     \
  CUDA_ON_CPU_INLINE Real __##name##2##real##_ru(Whole v) {                             \
    return cuda_on_cpu::to_real<cuda_on_cpu::Direction::up, Real>(v);                   \
  }
CUDA_ON_CPU_CONVERT(int, int, float, float)
CUDA_ON_CPU_CONVERT(uint, unsigned, float, float)
CUDA_ON_CPU_CONVERT(ll, long long, float, float)
CUDA_ON_CPU_CONVERT(ull, unsigned long long, float, float)
CUDA_ON_CPU_CONVERT(ll, long long, double, double)
CUDA_ON_CPU_CONVERT(ull, unsigned long long, double, double)
#undef CUDA_ON_CPU_CONVERT
CUDA_ON_CPU_INLINE double __int2double_rn(int v) { return (double)v; }
CUDA_ON_CPU_INLINE double __uint2double_rn(unsigned v) { return (double)v; }
CUDA_ON_CPU_INLINE float __double2float_rn(double v) { return (float)v; }
CUDA_ON_CPU_INLINE float __double2float_rz(double v) {
  return cuda_on_cpu::to_float<cuda_on_cpu::Direction::zero>(v);
}
CUDA_ON_CPU_INLINE float __double2float_rd(double v) {
  return cuda_on_cpu::to_float<cuda_on_cpu::Direction::down>(v);
}
CUDA_ON_CPU_INLINE float __double2float_ru(double v) {
  return cuda_on_cpu::to_float<cuda_on_cpu::Direction::up>(v);
}
