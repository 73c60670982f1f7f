// Bit patterns and whole-number intrinsics.
#pragma once

#include <cstdint>

#include "fast_math.h"
#include "vector_types.h"

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
CUDA_ON_CPU_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((uint64_t)high << 32 | low) << (shift < 32 ? shift : 32) >> 32);
}
CUDA_ON_CPU_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((uint64_t)high << 32 | low) >> (shift < 32 ? shift : 32));
}
CUDA_ON_CPU_INLINE unsigned short __nv_bswap16(unsigned short v) { return __builtin_bswap16(v); }
CUDA_ON_CPU_INLINE unsigned __nv_bswap32(unsigned v) { return __builtin_bswap32(v); }
CUDA_ON_CPU_INLINE unsigned long long __nv_bswap64(unsigned long long v) {
  return __builtin_bswap64(v);
}
// The place of the n-th set bit of `mask`, counted from `base`: upwards with n > 0, downwards with
// n < 0, and for n = 0 `base` itself; all ones where there is none.
CUDA_ON_CPU_INLINE unsigned __fns(unsigned mask, unsigned base, int n) {
  if (base > 31) return 0xffffffffu;
  if (n == 0) return mask >> base & 1u ? base : 0xffffffffu;
  const int step = n > 0 ? 1 : -1;
  for (int bit = (int)base; bit >= 0 && bit < 32; bit += step)
    if ((mask >> bit & 1u) && (n -= step) == 0) return (unsigned)bit;
  return 0xffffffffu;
}

// Sums and differences wrap around, as on a GPU; in C++ those of signed numbers must not.
CUDA_ON_CPU_INLINE int __mul24(int a, int b) {
  return (int)((unsigned)((int)((unsigned)a << 8) >> 8) * (unsigned)((int)((unsigned)b << 8) >> 8));
}
CUDA_ON_CPU_INLINE unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
CUDA_ON_CPU_INLINE int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
CUDA_ON_CPU_INLINE unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((uint64_t)a * b >> 32);
}
CUDA_ON_CPU_INLINE long long __mul64hi(long long a, long long b) {
  return (long long)((__int128)a * b >> 64);
}
CUDA_ON_CPU_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
CUDA_ON_CPU_INLINE unsigned __sad(int a, int b, unsigned sum) {
  return sum + (a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b);
}
CUDA_ON_CPU_INLINE unsigned __usad(unsigned a, unsigned b, unsigned sum) {
  return sum + (a < b ? b - a : a - b);
}
CUDA_ON_CPU_INLINE int __hadd(int a, int b) { return (int)(((int64_t)a + b) >> 1); }
CUDA_ON_CPU_INLINE int __rhadd(int a, int b) { return (int)(((int64_t)a + b + 1) >> 1); }
CUDA_ON_CPU_INLINE unsigned __uhadd(unsigned a, unsigned b) {
  return (unsigned)(((uint64_t)a + b) >> 1);
}
CUDA_ON_CPU_INLINE unsigned __urhadd(unsigned a, unsigned b) {
  return (unsigned)(((uint64_t)a + b + 1) >> 1);
}

// Dot products: of the four bytes of two words, or of two 16-bit numbers with the two lower or the
// two upper bytes of a word.
namespace cuda_on_cpu {
template <class A, class B, class Sum>
CUDA_ON_CPU_INLINE Sum dot(unsigned a, unsigned b, Sum sum) {
  unsigned total = (unsigned)sum;
  for (unsigned i = 0; i < 4 / sizeof(A); ++i)
    total += (unsigned)((int)(A)(a >> 8 * sizeof(A) * i) * (int)(B)(b >> 8 * sizeof(B) * i));
  return (Sum)total;
}
}  // namespace cuda_on_cpu
CUDA_ON_CPU_INLINE int __dp4a(int a, int b, int sum) {
  return cuda_on_cpu::dot<signed char, signed char>((unsigned)a, (unsigned)b, sum);
}
CUDA_ON_CPU_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  return cuda_on_cpu::dot<unsigned char, unsigned char>(a, b, sum);
}
CUDA_ON_CPU_INLINE int __dp4a(char4 a, char4 b, int sum) {
  return __dp4a(cuda_on_cpu::bit_cast<int>(a), cuda_on_cpu::bit_cast<int>(b), sum);
}
CUDA_ON_CPU_INLINE unsigned __dp4a(uchar4 a, uchar4 b, unsigned sum) {
  return __dp4a(cuda_on_cpu::bit_cast<unsigned>(a), cuda_on_cpu::bit_cast<unsigned>(b), sum);
}
CUDA_ON_CPU_INLINE int __dp2a_lo(int a, int b, int sum) {
  return cuda_on_cpu::dot<short, signed char>((unsigned)a, (unsigned)b, sum);
}
CUDA_ON_CPU_INLINE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum) {
  return cuda_on_cpu::dot<unsigned short, unsigned char>(a, b, sum);
}
CUDA_ON_CPU_INLINE int __dp2a_hi(int a, int b, int sum) { return __dp2a_lo(a, b >> 16, sum); }
CUDA_ON_CPU_INLINE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned sum) {
  return __dp2a_lo(a, b >> 16, sum);
}
CUDA_ON_CPU_INLINE int __dp2a_lo(short2 a, char4 b, int sum) {
  return __dp2a_lo(cuda_on_cpu::bit_cast<int>(a), cuda_on_cpu::bit_cast<int>(b), sum);
}
CUDA_ON_CPU_INLINE unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned sum) {
  return __dp2a_lo(cuda_on_cpu::bit_cast<unsigned>(a), cuda_on_cpu::bit_cast<unsigned>(b), sum);
}
CUDA_ON_CPU_INLINE int __dp2a_hi(short2 a, char4 b, int sum) {
  return __dp2a_hi(cuda_on_cpu::bit_cast<int>(a), cuda_on_cpu::bit_cast<int>(b), sum);
}
CUDA_ON_CPU_INLINE unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned sum) {
  return __dp2a_hi(cuda_on_cpu::bit_cast<unsigned>(a), cuda_on_cpu::bit_cast<unsigned>(b), sum);
}
