// Loads and stores with cache hints, promises to the compiler, and the clock.
#pragma once

#include "language.h"

namespace cuda_on_cpu {
// Keeps a parameter out of the deduction of T, so that it converts as a plain function's would.
template <class T>
struct Same {
  using type = T;
};
}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_LOAD(name)   \
  template <class T>             \
  CUDA_ON_CPU_INLINE T name(const T* address) { return *address; }
CUDA_ON_CPU_LOAD(__ldg)
CUDA_ON_CPU_LOAD(__ldca)
CUDA_ON_CPU_LOAD(__ldcg)
CUDA_ON_CPU_LOAD(__ldcs)
CUDA_ON_CPU_LOAD(__ldlu)
#undef CUDA_ON_CPU_LOAD
// Reads memory again each time; the compiler barrier stands for `volatile`, which structs lack.
template <class T>
CUDA_ON_CPU_INLINE T __ldcv(const T* address) {
  __asm__ __volatile__("" ::: "memory");
  return *address;
}
#define CUDA_ON_CPU_STORE(name)  \
  template <class T>             \
  CUDA_ON_CPU_INLINE void name(T* address, typename cuda_on_cpu::Same<T>::type value) { \
    *address = value;            \
  }
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
#define __assume(holds) __builtin_assume(holds)
#define __prof_trigger(counter) ((void)(counter))

CUDA_ON_CPU_INLINE long long clock64() {
#if defined(__x86_64__)
  return (long long)__builtin_ia32_rdtsc();
#else
  long long ticks;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}
