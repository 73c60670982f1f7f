// __nv_bfloat16 and __nv_bfloat162: the upper half of a float, computed in single precision and
// rounded to nearest even after each operation.
#pragma once
#include "cuda_runtime.h"

namespace cuda_on_cpu {
CUDA_ON_CPU_INLINE constexpr unsigned short bfloat16_bits(float v) {
  const unsigned bits = bit_cast<unsigned>(v);
  const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return (unsigned short)(v != v ? 0x7fffu : rounded);
}
}  // namespace cuda_on_cpu

struct __nv_bfloat16_raw {
  unsigned short x;
};

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short bits_;

  __nv_bfloat16() = default;
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat16(__nv_bfloat16_raw raw) : bits_(raw.x) {}
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat16(float v) : bits_(cuda_on_cpu::bfloat16_bits(v)) {}
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat16(double v) : __nv_bfloat16((float)v) {}
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat16(int v) : __nv_bfloat16((float)v) {}
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat16(unsigned v) : __nv_bfloat16((float)v) {}
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat16(long v) : __nv_bfloat16((float)v) {}
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat16(unsigned long v) : __nv_bfloat16((float)v) {}
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat16(long long v) : __nv_bfloat16((float)v) {}
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat16(unsigned long long v) : __nv_bfloat16((float)v) {}
  CUDA_ON_CPU_MEMBER constexpr operator float() const {
    return cuda_on_cpu::bit_cast<float>((unsigned)bits_ << 16);
  }
};
typedef __nv_bfloat16 nv_bfloat16;

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
};
typedef __nv_bfloat162 nv_bfloat162;

namespace cuda_on_cpu {
CUDA_ON_CPU_INLINE float wide(__nv_bfloat16 v) { return (float)v; }
CUDA_ON_CPU_INLINE __nv_bfloat16 narrow(__nv_bfloat16, float v) { return __nv_bfloat16(v); }
}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_NARROW_TYPE __nv_bfloat16
#define CUDA_ON_CPU_NARROW_PAIR __nv_bfloat162
#include "cuda_on_cpu/narrow_floats.h"
#undef CUDA_ON_CPU_NARROW_TYPE
#undef CUDA_ON_CPU_NARROW_PAIR

CUDA_ON_CPU_INLINE __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
CUDA_ON_CPU_INLINE __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
CUDA_ON_CPU_INLINE __nv_bfloat16 __double2bfloat16(double v) { return __nv_bfloat16(v); }
CUDA_ON_CPU_INLINE __nv_bfloat16 __int2bfloat16_rn(int v) { return __nv_bfloat16(v); }
CUDA_ON_CPU_INLINE float __bfloat162float(__nv_bfloat16 v) { return (float)v; }
CUDA_ON_CPU_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.bits_; }
CUDA_ON_CPU_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) {
  return __nv_bfloat16(__nv_bfloat16_raw{v});
}
CUDA_ON_CPU_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __nv_bfloat162(a, b);
}
CUDA_ON_CPU_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __nv_bfloat162(a, b);
}
CUDA_ON_CPU_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) {
  return __nv_bfloat162(a, a);
}
CUDA_ON_CPU_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
CUDA_ON_CPU_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
CUDA_ON_CPU_INLINE __nv_bfloat162 __float2bfloat162_rn(float v) {
  return __nv_bfloat162(__nv_bfloat16(v), __nv_bfloat16(v));
}
CUDA_ON_CPU_INLINE __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
CUDA_ON_CPU_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 v) {
  return __floats2bfloat162_rn(v.x, v.y);
}
CUDA_ON_CPU_INLINE float2 __bfloat1622float2(__nv_bfloat162 v) { return {(float)v.x, (float)v.y}; }
