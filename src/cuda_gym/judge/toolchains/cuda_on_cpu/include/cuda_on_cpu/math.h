// CUDA's mathematical functions and intrinsics on top of <cmath>.
//
// The fast intrinsics (__expf, __fdividef, ...) are as exact here as their slow twins.
#pragma once

#include "fast_math.h"
#include "powers.h"
#include "trigonometry.h"

// The overloads for float in <cmath> (exp, std::exp, ...) are made of these builtins.
#define __builtin_expf ::cuda_on_cpu::expf
#define __builtin_exp2f ::cuda_on_cpu::exp2f
#define __builtin_expm1f ::cuda_on_cpu::expm1f
#define __builtin_logf ::cuda_on_cpu::logf
#define __builtin_log2f ::cuda_on_cpu::log2f
#define __builtin_log10f ::cuda_on_cpu::log10f
#define __builtin_log1pf ::cuda_on_cpu::log1pf
#define __builtin_tanhf ::cuda_on_cpu::tanhf
#define __builtin_erff ::cuda_on_cpu::erff
#define __builtin_sinf ::cuda_on_cpu::sinf
#define __builtin_cosf ::cuda_on_cpu::cosf
#define __builtin_tanf ::cuda_on_cpu::tanf
#define __builtin_powf ::cuda_on_cpu::powf
#define __builtin_erfcf ::cuda_on_cpu::erfcf
#define __builtin_fmaxf ::cuda_on_cpu::fmaxf
#define __builtin_fminf ::cuda_on_cpu::fminf
#define __builtin_fmax ::cuda_on_cpu::fmax
#define __builtin_fmin ::cuda_on_cpu::fmin
#include <cmath>
#undef __builtin_expf
#undef __builtin_exp2f
#undef __builtin_expm1f
#undef __builtin_logf
#undef __builtin_log2f
#undef __builtin_log10f
#undef __builtin_log1pf
#undef __builtin_tanhf
#undef __builtin_erff
#undef __builtin_sinf
#undef __builtin_cosf
#undef __builtin_tanf
#undef __builtin_powf
#undef __builtin_erfcf
#undef __builtin_fmaxf
#undef __builtin_fminf
#undef __builtin_fmax
#undef __builtin_fmin

#include <cfloat>
#include <climits>
#include <cstdlib>

// <math.h> brings the overloads into the global namespace, where CUDA has them.
#include <math.h>

// Inline bodies for functions of the C library, as its own headers give them for memcpy.
#define CUDA_ON_CPU_BODY extern "C" inline __attribute__((gnu_inline, always_inline))
#define CUDA_ON_CPU_OF_ONE(T, name) \
  CUDA_ON_CPU_BODY T name(T x) noexcept { return cuda_on_cpu::name(x); }
#define CUDA_ON_CPU_OF_TWO(T, name) \
  CUDA_ON_CPU_BODY T name(T x, T y) noexcept { return cuda_on_cpu::name(x, y); }
CUDA_ON_CPU_OF_ONE(float, expf)
CUDA_ON_CPU_OF_ONE(float, exp2f)
CUDA_ON_CPU_OF_ONE(float, expm1f)
CUDA_ON_CPU_OF_ONE(float, logf)
CUDA_ON_CPU_OF_ONE(float, log2f)
CUDA_ON_CPU_OF_ONE(float, log10f)
CUDA_ON_CPU_OF_ONE(float, log1pf)
CUDA_ON_CPU_OF_ONE(float, tanhf)
CUDA_ON_CPU_OF_ONE(float, erff)
CUDA_ON_CPU_OF_ONE(float, sinf)
CUDA_ON_CPU_OF_ONE(float, cosf)
CUDA_ON_CPU_OF_ONE(float, tanf)
CUDA_ON_CPU_OF_ONE(float, exp10f)
CUDA_ON_CPU_OF_ONE(float, erfcf)
CUDA_ON_CPU_OF_TWO(float, powf)
CUDA_ON_CPU_OF_TWO(float, fmaxf)
CUDA_ON_CPU_OF_TWO(float, fminf)
CUDA_ON_CPU_OF_TWO(double, fmax)
CUDA_ON_CPU_OF_TWO(double, fmin)
CUDA_ON_CPU_BODY void sincosf(float x, float* sine, float* cosine) noexcept {
  *sine = cuda_on_cpu::sinf(x);
  *cosine = cuda_on_cpu::cosf(x);
}
// Only the newest C libraries have these.
CUDA_ON_CPU_BODY float rsqrtf(float x) noexcept { return 1.0f / __builtin_sqrtf(x); }
CUDA_ON_CPU_BODY double rsqrt(double x) noexcept { return 1.0 / __builtin_sqrt(x); }
#undef CUDA_ON_CPU_BODY
#undef CUDA_ON_CPU_OF_ONE
#undef CUDA_ON_CPU_OF_TWO

// Named like functions of the C library or like nothing: macros keep glibc's declarations apart.
// Without parameters, so that a comma between template arguments separates nothing.
#define __expf cuda_on_cpu_expf
#define __exp10f cuda_on_cpu_exp10f
#define __logf cuda_on_cpu_logf
#define __log2f cuda_on_cpu_log2f
#define __log10f cuda_on_cpu_log10f
#define __tanhf cuda_on_cpu_tanhf
#define __sinf cuda_on_cpu_sinf
#define __cosf cuda_on_cpu_cosf
#define __tanf cuda_on_cpu_tanf
#define __powf cuda_on_cpu_powf
#define __sincosf cuda_on_cpu_sincosf
CUDA_ON_CPU_INLINE float __expf(float x) { return cuda_on_cpu::expf(x); }
CUDA_ON_CPU_INLINE float __exp10f(float x) { return cuda_on_cpu::exp10f(x); }
CUDA_ON_CPU_INLINE float __logf(float x) { return cuda_on_cpu::logf(x); }
CUDA_ON_CPU_INLINE float __log2f(float x) { return cuda_on_cpu::log2f(x); }
CUDA_ON_CPU_INLINE float __log10f(float x) { return cuda_on_cpu::log10f(x); }
CUDA_ON_CPU_INLINE float __tanhf(float x) { return cuda_on_cpu::tanhf(x); }
CUDA_ON_CPU_INLINE float __sinf(float x) { return ::sinf(x); }
CUDA_ON_CPU_INLINE float __cosf(float x) { return ::cosf(x); }
CUDA_ON_CPU_INLINE float __tanf(float x) { return ::tanf(x); }
CUDA_ON_CPU_INLINE float __powf(float x, float y) { return ::powf(x, y); }
CUDA_ON_CPU_INLINE void __sincosf(float x, float* sine, float* cosine) {
  *sine = ::sinf(x);
  *cosine = ::cosf(x);
}

CUDA_ON_CPU_INLINE float __fdividef(float a, float b) { return a / b; }
CUDA_ON_CPU_INLINE float fdividef(float a, float b) { return a / b; }
CUDA_ON_CPU_INLINE float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }
CUDA_ON_CPU_INLINE float rsqrt(float a) { return rsqrtf(a); }

// min and max of whole numbers convert as CUDA's overloads do; of floats they drop NaN.
#define CUDA_ON_CPU_MIN_MAX(A, B, T)                                              \
  CUDA_ON_CPU_INLINE constexpr T min(A a, B b) { return (T)a < (T)b ? (T)a : (T)b; } \
  CUDA_ON_CPU_INLINE constexpr T max(A a, B b) { return (T)a > (T)b ? (T)a : (T)b; }
CUDA_ON_CPU_MIN_MAX(int, int, int)
CUDA_ON_CPU_MIN_MAX(unsigned, unsigned, unsigned)
CUDA_ON_CPU_MIN_MAX(int, unsigned, unsigned)
CUDA_ON_CPU_MIN_MAX(unsigned, int, unsigned)
CUDA_ON_CPU_MIN_MAX(long, long, long)
CUDA_ON_CPU_MIN_MAX(long, int, long)
CUDA_ON_CPU_MIN_MAX(int, long, long)
CUDA_ON_CPU_MIN_MAX(unsigned long, unsigned long, unsigned long)
CUDA_ON_CPU_MIN_MAX(long, unsigned long, unsigned long)
CUDA_ON_CPU_MIN_MAX(unsigned long, long, unsigned long)
CUDA_ON_CPU_MIN_MAX(long long, long long, long long)
CUDA_ON_CPU_MIN_MAX(long long, int, long long)
CUDA_ON_CPU_MIN_MAX(int, long long, long long)
CUDA_ON_CPU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CUDA_ON_CPU_MIN_MAX(long long, unsigned long long, unsigned long long)
CUDA_ON_CPU_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef CUDA_ON_CPU_MIN_MAX
#define CUDA_ON_CPU_MIN_MAX(A, B, T)                                                       \
  CUDA_ON_CPU_INLINE constexpr T min(A a, B b) { return cuda_on_cpu::smaller<T>(a, b); }    \
  CUDA_ON_CPU_INLINE constexpr T max(A a, B b) { return cuda_on_cpu::larger<T>(a, b); }
CUDA_ON_CPU_MIN_MAX(float, float, float)
CUDA_ON_CPU_MIN_MAX(double, double, double)
CUDA_ON_CPU_MIN_MAX(float, double, double)
CUDA_ON_CPU_MIN_MAX(double, float, double)
#undef CUDA_ON_CPU_MIN_MAX
#define CUDA_ON_CPU_NAMED_MIN_MAX(prefix, T)                                       \
  CUDA_ON_CPU_INLINE T prefix##min(T a, T b) { return a < b ? a : b; }             \
  CUDA_ON_CPU_INLINE T prefix##max(T a, T b) { return a > b ? a : b; }
CUDA_ON_CPU_NAMED_MIN_MAX(u, unsigned)
CUDA_ON_CPU_NAMED_MIN_MAX(ll, long long)
CUDA_ON_CPU_NAMED_MIN_MAX(ull, unsigned long long)
#undef CUDA_ON_CPU_NAMED_MIN_MAX
