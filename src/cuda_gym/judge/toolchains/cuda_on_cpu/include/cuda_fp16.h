// __half and __half2: IEEE binary16, computed in single precision and rounded after each operation.
#pragma once
#include "cuda_runtime.h"

#if !defined(__FLT16_MAX__)
#error "half needs a compiler with _Float16: g++ 12 or newer, or clang"
#endif

struct __half_raw {
  unsigned short x;
};

struct __attribute__((aligned(2))) __half {
  _Float16 bits_;

  __half() = default;
  CUDA_ON_CPU_MEMBER __half(__half_raw raw) : bits_(cuda_on_cpu::bit_cast<_Float16>(raw.x)) {}
  CUDA_ON_CPU_MEMBER constexpr __half(_Float16 v) : bits_(v) {}
  CUDA_ON_CPU_MEMBER constexpr __half(float v) : bits_((_Float16)v) {}
  CUDA_ON_CPU_MEMBER constexpr __half(double v) : bits_((_Float16)v) {}
  CUDA_ON_CPU_MEMBER constexpr __half(int v) : bits_((_Float16)v) {}
  CUDA_ON_CPU_MEMBER constexpr __half(unsigned v) : bits_((_Float16)v) {}
  CUDA_ON_CPU_MEMBER constexpr __half(long v) : bits_((_Float16)v) {}
  CUDA_ON_CPU_MEMBER constexpr __half(unsigned long v) : bits_((_Float16)v) {}
  CUDA_ON_CPU_MEMBER constexpr __half(long long v) : bits_((_Float16)v) {}
  CUDA_ON_CPU_MEMBER constexpr __half(unsigned long long v) : bits_((_Float16)v) {}
  CUDA_ON_CPU_MEMBER constexpr operator float() const { return (float)bits_; }
};
typedef __half half;

struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  CUDA_ON_CPU_MEMBER constexpr __half2(__half a, __half b) : x(a), y(b) {}
};
typedef __half2 half2;

namespace cuda_on_cpu {
CUDA_ON_CPU_INLINE float wide(__half v) { return (float)v.bits_; }
CUDA_ON_CPU_INLINE __half narrow(__half, float v) { return __half(v); }
}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_NARROW_TYPE __half
#define CUDA_ON_CPU_NARROW_PAIR __half2
#include "cuda_on_cpu/narrow_floats.h"
#undef CUDA_ON_CPU_NARROW_TYPE
#undef CUDA_ON_CPU_NARROW_PAIR

CUDA_ON_CPU_INLINE __half __float2half(float v) { return __half(v); }
CUDA_ON_CPU_INLINE __half __float2half_rn(float v) { return __half(v); }
CUDA_ON_CPU_INLINE __half __double2half(double v) { return __half(v); }
CUDA_ON_CPU_INLINE float __half2float(__half v) { return cuda_on_cpu::wide(v); }
CUDA_ON_CPU_INLINE __half __int2half_rn(int v) { return __half(v); }
CUDA_ON_CPU_INLINE __half __uint2half_rn(unsigned v) { return __half(v); }
CUDA_ON_CPU_INLINE int __half2int_rn(__half v) { return __float2int_rn(cuda_on_cpu::wide(v)); }
CUDA_ON_CPU_INLINE int __half2int_rz(__half v) { return __float2int_rz(cuda_on_cpu::wide(v)); }
CUDA_ON_CPU_INLINE unsigned short __half_as_ushort(__half v) {
  return cuda_on_cpu::bit_cast<unsigned short>(v.bits_);
}
CUDA_ON_CPU_INLINE short __half_as_short(__half v) { return cuda_on_cpu::bit_cast<short>(v.bits_); }
CUDA_ON_CPU_INLINE __half __ushort_as_half(unsigned short v) {
  return __half(cuda_on_cpu::bit_cast<_Float16>(v));
}
CUDA_ON_CPU_INLINE __half __short_as_half(short v) {
  return __half(cuda_on_cpu::bit_cast<_Float16>(v));
}
CUDA_ON_CPU_INLINE __half2 make_half2(__half a, __half b) { return __half2(a, b); }
CUDA_ON_CPU_INLINE __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
CUDA_ON_CPU_INLINE __half2 __half2half2(__half a) { return __half2(a, a); }
CUDA_ON_CPU_INLINE __half __low2half(__half2 v) { return v.x; }
CUDA_ON_CPU_INLINE __half __high2half(__half2 v) { return v.y; }
CUDA_ON_CPU_INLINE __half2 __float2half2_rn(float v) { return __half2(__half(v), __half(v)); }
CUDA_ON_CPU_INLINE __half2 __floats2half2_rn(float a, float b) {
  return __half2(__half(a), __half(b));
}
CUDA_ON_CPU_INLINE __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
CUDA_ON_CPU_INLINE float2 __half22float2(__half2 v) {
  return {cuda_on_cpu::wide(v.x), cuda_on_cpu::wide(v.y)};
}
