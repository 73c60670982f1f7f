// __half and __half2: IEEE binary16.
//
// Results are those of a GPU to the bit, except for the payload of a NaN and for functions like
// hexp, which are exact to half a unit and a little.
#pragma once
#include "cuda_runtime.h"
#include "cuda_on_cpu/half_bits.h"
#include "cuda_on_cpu/narrow_types.h"

#if !defined(__FLT16_MAX__)
#error "half needs a compiler with _Float16: g++ 12 or newer, or clang"
#endif

struct __nv_bfloat16;

struct __attribute__((aligned(2))) __half_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __half2_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __half {
  unsigned short bits_;

  __half() = default;
  CUDA_ON_CPU_MEMBER constexpr __half(__half_raw raw) : bits_(raw.x) {}
  CUDA_ON_CPU_MEMBER constexpr __half(_Float16 v)
      : bits_(cuda_on_cpu::bit_cast<unsigned short>(v)) {}
  CUDA_ON_CPU_MEMBER constexpr __half(float v) : bits_(cuda_on_cpu::half_bits(v)) {}
  CUDA_ON_CPU_MEMBER explicit __half(__nv_bfloat16 v);
  CUDA_ON_CPU_MEMBER constexpr operator float() const { return cuda_on_cpu::from_half_bits(bits_); }
  CUDA_ON_CPU_NARROW_MEMBERS(__half, __half_raw)
};
typedef __half half, nv_half, __nv_half;
typedef __half_raw __nv_half_raw;

struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  CUDA_ON_CPU_MEMBER constexpr __half2(__half a, __half b) : x(a), y(b) {}
  CUDA_ON_CPU_MEMBER constexpr __half2(__half2_raw raw)
      : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  CUDA_ON_CPU_MEMBER constexpr operator __half2_raw() const {
    return {__half_raw(x).x, __half_raw(y).x};
  }
};
typedef __half2 half2, nv_half2, __nv_half2;
typedef __half2_raw __nv_half2_raw;

namespace cuda_on_cpu {
CUDA_ON_CPU_INLINE constexpr float wide(__half v) { return (float)v; }
CUDA_ON_CPU_INLINE constexpr __half narrow(__half, float v) { return __half(v); }
}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_NARROW_TYPE __half
#define CUDA_ON_CPU_NARROW_PAIR __half2
#define CUDA_ON_CPU_NARROW_NAME half
#include "cuda_on_cpu/narrow_floats.h"
#include "cuda_on_cpu/narrow_functions.h"
#undef CUDA_ON_CPU_NARROW_TYPE
#undef CUDA_ON_CPU_NARROW_PAIR
#undef CUDA_ON_CPU_NARROW_NAME

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bffu)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00u)
