// __nv_bfloat16 and __nv_bfloat162: the upper half of a float.
//
// Results are those of a GPU to the bit, except for functions like hexp, which are exact to half a
// unit and a little.
#pragma once
#include "cuda_fp16.h"

namespace cuda_on_cpu {
CUDA_ON_CPU_INLINE constexpr unsigned short bfloat16_bits(float v) {
  const unsigned bits = bit_cast<unsigned>(v);
  const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return (unsigned short)(v != v ? 0x7fffu : rounded);
}
}  // namespace cuda_on_cpu

struct __attribute__((aligned(2))) __nv_bfloat16_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __nv_bfloat162_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short bits_;

  __nv_bfloat16() = default;
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat16(__nv_bfloat16_raw raw) : bits_(raw.x) {}
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat16(float v) : bits_(cuda_on_cpu::bfloat16_bits(v)) {}
  CUDA_ON_CPU_MEMBER explicit constexpr __nv_bfloat16(__half v) : __nv_bfloat16((float)v) {}
  CUDA_ON_CPU_MEMBER constexpr operator float() const {
    return cuda_on_cpu::bit_cast<float>((unsigned)bits_ << 16);
  }
  CUDA_ON_CPU_NARROW_MEMBERS(__nv_bfloat16, __nv_bfloat16_raw)
};
typedef __nv_bfloat16 nv_bfloat16;
CUDA_ON_CPU_MEMBER __half::__half(__nv_bfloat16 v) : __half((float)v) {}

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
  CUDA_ON_CPU_MEMBER constexpr __nv_bfloat162(__nv_bfloat162_raw raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  CUDA_ON_CPU_MEMBER constexpr operator __nv_bfloat162_raw() const { return {x.bits_, y.bits_}; }
};
typedef __nv_bfloat162 nv_bfloat162;

namespace cuda_on_cpu {
CUDA_ON_CPU_INLINE constexpr float wide(__nv_bfloat16 v) { return (float)v; }
CUDA_ON_CPU_INLINE constexpr __nv_bfloat16 narrow(__nv_bfloat16, float v) {
  return __nv_bfloat16(v);
}
}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_NARROW_TYPE __nv_bfloat16
#define CUDA_ON_CPU_NARROW_PAIR __nv_bfloat162
#define CUDA_ON_CPU_NARROW_NAME bfloat16
#include "cuda_on_cpu/narrow_floats.h"
#include "cuda_on_cpu/narrow_functions.h"
#undef CUDA_ON_CPU_NARROW_TYPE
#undef CUDA_ON_CPU_NARROW_PAIR
#undef CUDA_ON_CPU_NARROW_NAME

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7fu)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000u)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80u)
