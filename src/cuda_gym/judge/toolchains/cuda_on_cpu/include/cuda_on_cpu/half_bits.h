// float to IEEE binary16 and back in whole-number arithmetic, which any vector unit has.
//
// The processor's own conversion is one instruction, but few compilers use it in a loop that they
// vectorise. Exact for every input, rounding to nearest even; compared with the processor's over all
// floats and all halves (NaN stays NaN, its payload may differ).
#pragma once

#include "fast_math.h"

namespace cuda_on_cpu {

CUDA_ON_CPU_INLINE constexpr float from_half_bits(unsigned short half) {
#if defined(__AVX512FP16__) || defined(__aarch64__)
  return (float)bit_cast<_Float16>(half);
#else
  const unsigned magnitude = half & 0x7fffu;
  // Subnormal halves become normal by the multiplication.
  const float scaled = bit_cast<float>(magnitude << 13) * 0x1p112f;
  const unsigned special = magnitude >= 0x7c00u ? 0x7f800000u : 0u;
  return bit_cast<float>(bit_cast<unsigned>(scaled) | special | (unsigned)(half & 0x8000u) << 16);
#endif
}

CUDA_ON_CPU_INLINE constexpr unsigned short half_bits(float v) {
#if defined(__AVX512FP16__) || defined(__aarch64__)
  return bit_cast<unsigned short>((_Float16)v);
#else
  const unsigned bits = bit_cast<unsigned>(v), magnitude = bits & 0x7fffffffu;
  const unsigned normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
  // A float near 1/2 has the spacing of the subnormal halves: adding rounds.
  const unsigned subnormal = bit_cast<unsigned>(bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  unsigned half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x47800000u ? 0x7c00u : half;
  half = magnitude > 0x7f800000u ? (magnitude >> 13 & 0x3ffu) | 0x7e00u : half;
  return (unsigned short)(half | (bits >> 16 & 0x8000u));
#endif
}

}  // namespace cuda_on_cpu
