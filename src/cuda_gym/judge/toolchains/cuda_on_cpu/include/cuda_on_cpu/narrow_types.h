// What __half and __nv_bfloat16 have in common as types.
#pragma once

#include "conversions.h"
#include "rounding.h"

namespace cuda_on_cpu {

// Within 0 and 1; NaN becomes 0.
CUDA_ON_CPU_INLINE constexpr float saturated(float v) {
  return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f;
}
CUDA_ON_CPU_INLINE float larger_zero_aware(float a, float b) {
  const bool is_first = a > b || b != b || (a == b && __builtin_signbit(b));
  return is_first ? a : b;
}

}  // namespace cuda_on_cpu

// Constructors from numbers, each rounding once, and conversions to numbers; those to whole ones
// cut the fraction off and saturate. `T` is the type; it converts to and from float by itself.
#define CUDA_ON_CPU_NARROW_FROM(T, Whole) \
  CUDA_ON_CPU_MEMBER constexpr T(Whole v) : T(cuda_on_cpu::to_odd(v)) {}
#define CUDA_ON_CPU_NARROW_TO(T, Whole)                         \
  CUDA_ON_CPU_MEMBER constexpr operator Whole() const {         \
    return cuda_on_cpu::to_whole<Whole>((float)*this);          \
  }
#define CUDA_ON_CPU_NARROW_MEMBERS(T, Raw)                                            \
  CUDA_ON_CPU_MEMBER constexpr T(short v) : T((float)v) {}                            \
  CUDA_ON_CPU_MEMBER constexpr T(unsigned short v) : T((float)v) {}                   \
  CUDA_ON_CPU_NARROW_FROM(T, double)                                                  \
  CUDA_ON_CPU_NARROW_FROM(T, int)                                                     \
  CUDA_ON_CPU_NARROW_FROM(T, unsigned)                                                \
  CUDA_ON_CPU_NARROW_FROM(T, long)                                                    \
  CUDA_ON_CPU_NARROW_FROM(T, unsigned long)                                           \
  CUDA_ON_CPU_NARROW_FROM(T, long long)                                               \
  CUDA_ON_CPU_NARROW_FROM(T, unsigned long long)                                      \
  CUDA_ON_CPU_NARROW_TO(T, char)                                                      \
  CUDA_ON_CPU_NARROW_TO(T, signed char)                                               \
  CUDA_ON_CPU_NARROW_TO(T, unsigned char)                                             \
  CUDA_ON_CPU_NARROW_TO(T, short)                                                     \
  CUDA_ON_CPU_NARROW_TO(T, unsigned short)                                            \
  CUDA_ON_CPU_NARROW_TO(T, int)                                                       \
  CUDA_ON_CPU_NARROW_TO(T, unsigned)                                                  \
  CUDA_ON_CPU_NARROW_TO(T, long)                                                      \
  CUDA_ON_CPU_NARROW_TO(T, unsigned long)                                             \
  CUDA_ON_CPU_NARROW_TO(T, long long)                                                 \
  CUDA_ON_CPU_NARROW_TO(T, unsigned long long)                                        \
  CUDA_ON_CPU_MEMBER constexpr operator bool() const { return (float)*this != 0.0f; } \
  CUDA_ON_CPU_MEMBER constexpr operator Raw() const {                                 \
    return {cuda_on_cpu::bit_cast<unsigned short>(bits_)};                            \
  }
