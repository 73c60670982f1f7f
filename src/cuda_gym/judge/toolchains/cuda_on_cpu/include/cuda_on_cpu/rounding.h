// Rounding to fewer digits exactly once, and into the direction asked for.
//
// A number that is rounded twice may come out wrong where the first result lies half way between
// two of the second kind. Rounding to odd first (the last digit of an inexact result is 1) avoids
// that, as long as the first kind has two digits more than the second.
#pragma once

#include <cstdint>

#include "fast_math.h"

namespace cuda_on_cpu {

// The double next to `v + lost` whose last digit is 1, or `v` where nothing is lost.
CUDA_ON_CPU_INLINE constexpr double to_odd(double v, double lost) {
  const uint64_t bits = bit_cast<uint64_t>(v);
  const bool is_exact = lost == 0.0 || !(v - v == 0.0);
  const bool is_below = (lost > 0.0) == (v > 0.0);
  return is_exact || (bits & 1u) ? v : bit_cast<double>(is_below ? bits + 1u : bits - 1u);
}

// The float at or next to `v` whose last digit is 1 unless it is exact.
CUDA_ON_CPU_INLINE constexpr float to_odd(double v) {
  const float nearest = (float)v;
  const uint32_t bits = bit_cast<uint32_t>(nearest);
  const bool is_exact = (double)nearest == v || v != v;
  const bool is_below = __builtin_fabs(v) > __builtin_fabs((double)nearest);
  return is_exact || (bits & 1u) ? nearest : bit_cast<float>(is_below ? bits + 1u : bits - 1u);
}
CUDA_ON_CPU_INLINE constexpr float to_odd(unsigned long long v) {
  if (v >> 24 == 0) return (float)v;
  const int excess = 40 - __builtin_clzll(v);
  const unsigned long long lost = v & ((1ull << excess) - 1);
  return (float)((v >> excess | (lost != 0)) << excess);
}
CUDA_ON_CPU_INLINE constexpr float to_odd(long long v) {
  return v < 0 ? -to_odd(0ull - (unsigned long long)v) : to_odd((unsigned long long)v);
}
CUDA_ON_CPU_INLINE constexpr float to_odd(unsigned long v) { return to_odd((unsigned long long)v); }
CUDA_ON_CPU_INLINE constexpr float to_odd(long v) { return to_odd((long long)v); }
CUDA_ON_CPU_INLINE constexpr float to_odd(unsigned v) { return to_odd((unsigned long long)v); }
CUDA_ON_CPU_INLINE constexpr float to_odd(int v) { return to_odd((long long)v); }

// a + b and a * b + c of floats, with the last of a double's digits odd where inexact. A product of
// two floats is exact as a double.
CUDA_ON_CPU_INLINE constexpr double sum_to_odd(double a, double b) {
  const double sum = a + b, part = sum - a;
  return to_odd(sum, (a - (sum - part)) + (b - part));
}
CUDA_ON_CPU_INLINE constexpr float fused_to_odd(float a, float b, float c) {
  return to_odd(sum_to_odd((double)a * b, c));
}

template <class Real>
struct BitsOf;
template <>
struct BitsOf<float> {
  using type = uint32_t;
};
template <>
struct BitsOf<double> {
  using type = uint64_t;
};

enum class Direction { nearest, zero, down, up };

// The nearest number, moved by one place where the direction asks for it. `Bits` is the integer of
// its size; `error` is the exact value less the nearest one, or at least has its sign.
template <Direction direction, class Bits, class T, class Error>
CUDA_ON_CPU_INLINE constexpr T directed(T nearest, Error error) {
  const Bits bits = bit_cast<Bits>(nearest);
  const bool is_negative = bits >> (8 * sizeof(Bits) - 1);
  const bool wants_larger = direction == Direction::up ||
                            (direction == Direction::zero && is_negative);
  const bool wants_smaller = direction == Direction::down ||
                             (direction == Direction::zero && !is_negative);
  // Away from zero the magnitude grows, and the bits count magnitudes.
  if (error > 0 && wants_larger) return bit_cast<T>((Bits)(is_negative ? bits - 1 : bits + 1));
  if (error < 0 && wants_smaller) return bit_cast<T>((Bits)(is_negative ? bits + 1 : bits - 1));
  return nearest;
}

}  // namespace cuda_on_cpu
