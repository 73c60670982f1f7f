// Bit patterns, whole-number intrinsics, conversions, and loads and stores with cache hints.
#pragma once

#include <cstdint>

#include "fast_math.h"

CUDA_ON_CPU_INLINE float __int_as_float(int v) { return cuda_on_cpu::bit_cast<float>(v); }
CUDA_ON_CPU_INLINE int __float_as_int(float v) { return cuda_on_cpu::bit_cast<int>(v); }
CUDA_ON_CPU_INLINE float __uint_as_float(unsigned v) { return cuda_on_cpu::bit_cast<float>(v); }
CUDA_ON_CPU_INLINE unsigned __float_as_uint(float v) { return cuda_on_cpu::bit_cast<unsigned>(v); }
CUDA_ON_CPU_INLINE long long __double_as_longlong(double v) {
  return cuda_on_cpu::bit_cast<long long>(v);
}
CUDA_ON_CPU_INLINE double __longlong_as_double(long long v) {
  return cuda_on_cpu::bit_cast<double>(v);
}
CUDA_ON_CPU_INLINE int __double2hiint(double v) { return (int)(__double_as_longlong(v) >> 32); }
CUDA_ON_CPU_INLINE int __double2loint(double v) { return (int)__double_as_longlong(v); }
CUDA_ON_CPU_INLINE double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)((uint64_t)(uint32_t)high << 32 | (uint32_t)low));
}

CUDA_ON_CPU_INLINE int __popc(unsigned v) { return __builtin_popcount(v); }
CUDA_ON_CPU_INLINE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
CUDA_ON_CPU_INLINE int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
CUDA_ON_CPU_INLINE int __clzll(long long v) {
  return v ? __builtin_clzll((unsigned long long)v) : 64;
}
CUDA_ON_CPU_INLINE int __ffs(int v) { return __builtin_ffs(v); }
CUDA_ON_CPU_INLINE int __ffsll(long long v) { return __builtin_ffsll(v); }
CUDA_ON_CPU_INLINE unsigned __brev(unsigned v) {
  v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
  v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
  v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(v);
}
CUDA_ON_CPU_INLINE unsigned long long __brevll(unsigned long long v) {
  return (unsigned long long)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32));
}
CUDA_ON_CPU_INLINE unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const uint64_t bytes = (uint64_t)high << 32 | low;
  unsigned picked = 0;
  for (int i = 0; i < 4; ++i)
    picked |= (unsigned)(bytes >> ((selector >> 4 * i & 7) * 8) & 0xff) << 8 * i;
  return picked;
}
CUDA_ON_CPU_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((uint64_t)high << 32 | low) << (shift & 31) >> 32);
}
CUDA_ON_CPU_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}

CUDA_ON_CPU_INLINE int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
CUDA_ON_CPU_INLINE unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
CUDA_ON_CPU_INLINE int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
CUDA_ON_CPU_INLINE unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((uint64_t)a * b >> 32);
}
CUDA_ON_CPU_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
CUDA_ON_CPU_INLINE int __dp4a(int a, int b, int sum) {
  for (int i = 0; i < 32; i += 8) sum += (int)(signed char)(a >> i) * (int)(signed char)(b >> i);
  return sum;
}
CUDA_ON_CPU_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int i = 0; i < 32; i += 8) sum += (a >> i & 0xffu) * (b >> i & 0xffu);
  return sum;
}
CUDA_ON_CPU_INLINE unsigned __sad(int a, int b, unsigned sum) {
  return sum + (unsigned)(a < b ? b - a : a - b);
}

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
CUDA_ON_CPU_INLINE float __int2float_rn(int v) { return (float)v; }
CUDA_ON_CPU_INLINE float __uint2float_rn(unsigned v) { return (float)v; }
CUDA_ON_CPU_INLINE float __ll2float_rn(long long v) { return (float)v; }
CUDA_ON_CPU_INLINE float __ull2float_rn(unsigned long long v) { return (float)v; }
CUDA_ON_CPU_INLINE double __int2double_rn(int v) { return (double)v; }
CUDA_ON_CPU_INLINE double __uint2double_rn(unsigned v) { return (double)v; }
CUDA_ON_CPU_INLINE float __double2float_rn(double v) { return (float)v; }

#define CUDA_ON_CPU_LOAD(name)   \
  template <class T>             \
  CUDA_ON_CPU_INLINE T name(const T* address) { return *address; }
CUDA_ON_CPU_LOAD(__ldg)
CUDA_ON_CPU_LOAD(__ldca)
CUDA_ON_CPU_LOAD(__ldcg)
CUDA_ON_CPU_LOAD(__ldcs)
CUDA_ON_CPU_LOAD(__ldlu)
CUDA_ON_CPU_LOAD(__ldcv)
#undef CUDA_ON_CPU_LOAD
#define CUDA_ON_CPU_STORE(name)  \
  template <class T>             \
  CUDA_ON_CPU_INLINE void name(T* address, T value) { *address = value; }
CUDA_ON_CPU_STORE(__stwb)
CUDA_ON_CPU_STORE(__stcg)
CUDA_ON_CPU_STORE(__stcs)
CUDA_ON_CPU_STORE(__stwt)
#undef CUDA_ON_CPU_STORE

#if !defined(__clang__)
CUDA_ON_CPU_INLINE void __builtin_assume(bool holds) {
  if (!holds) __builtin_unreachable();
}
#endif

CUDA_ON_CPU_INLINE long long clock64() {
#if defined(__x86_64__)
  return (long long)__builtin_ia32_rdtsc();
#else
  long long ticks;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}
