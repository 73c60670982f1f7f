// Warp intrinsics without a mask, which CUDA 9 deprecated and sm_70 took away.
//
// Old teaching material is full of them. The lanes that take part are those that arrive together, as
// `__activemask` tells; submissions are refused before they get here (see `refusals.py`).
#pragma once

#include "warp.h"

namespace cuda_on_cpu {

// A conversion of its own makes these functions second choice: a program that declares one of them
// for new architectures, with plain parameters, calls its own.
struct LegacyNumber {
  int value;
  LegacyNumber(int value) : value(value) {}
};

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_LEGACY(name)                                                      \
  __attribute__((deprecated(#name " is gone since sm_70; use " #name "_sync, whose " \
                                  "first argument is the mask of the lanes that take part")))

#define CUDA_ON_CPU_LEGACY_SHUFFLE(name, number)                                              \
  template <class T>                                                                          \
  CUDA_ON_CPU_LEGACY(name)                                                                    \
  CUDA_ON_CPU_INLINE T name(T value, cuda_on_cpu::LegacyNumber lanes, int width = 32,         \
                            int site = __builtin_LINE()) {                                    \
    return name##_sync(cuda_on_cpu::converge(site), value, (number)lanes.value, width);       \
  }
CUDA_ON_CPU_LEGACY_SHUFFLE(__shfl, int)
CUDA_ON_CPU_LEGACY_SHUFFLE(__shfl_up, unsigned)
CUDA_ON_CPU_LEGACY_SHUFFLE(__shfl_down, unsigned)
CUDA_ON_CPU_LEGACY_SHUFFLE(__shfl_xor, int)
#undef CUDA_ON_CPU_LEGACY_SHUFFLE

#define CUDA_ON_CPU_LEGACY_VOTE(type, name)                                                  \
  CUDA_ON_CPU_LEGACY(name)                                                                   \
  CUDA_ON_CPU_INLINE type name(cuda_on_cpu::LegacyNumber predicate,                          \
                               int site = __builtin_LINE()) {                                \
    return name##_sync(cuda_on_cpu::converge(site), predicate.value);                        \
  }
CUDA_ON_CPU_LEGACY_VOTE(unsigned, __ballot)
CUDA_ON_CPU_LEGACY_VOTE(int, __any)
CUDA_ON_CPU_LEGACY_VOTE(int, __all)
#undef CUDA_ON_CPU_LEGACY_VOTE
#undef CUDA_ON_CPU_LEGACY
