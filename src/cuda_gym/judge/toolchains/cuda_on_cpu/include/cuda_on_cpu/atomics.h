// Atomic operations on memory: relaxed, as CUDA's are.
#pragma once

#include <cstdint>
#include <cstring>

#include "fibers.h"

namespace cuda_on_cpu {

// Replaces *address by change(*address); returns the old value. `Bits` is an integer of T's size.
template <class Bits, class T, class Change>
CUDA_ON_CPU_INLINE T replace_atomically(T* address, Change change) {
  static_assert(sizeof(Bits) == sizeof(T), "the integer must be as large as the value");
  Bits* const place = reinterpret_cast<Bits*>(address);
  Bits old_bits = __atomic_load_n(place, __ATOMIC_RELAXED);
  for (;;) {
    T old_value;
    memcpy((void*)&old_value, &old_bits, sizeof(T));
    const T new_value = change(old_value);
    Bits new_bits;
    memcpy(&new_bits, &new_value, sizeof(T));
    if (__atomic_compare_exchange_n(place, &old_bits, new_bits, true, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      return old_value;
  }
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_ATOMICS(T, Bits)                                                              \
  CUDA_ON_CPU_INLINE T atomicAdd(T* p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }\
  CUDA_ON_CPU_INLINE T atomicSub(T* p, T v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }\
  CUDA_ON_CPU_INLINE T atomicAnd(T* p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }\
  CUDA_ON_CPU_INLINE T atomicOr(T* p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }  \
  CUDA_ON_CPU_INLINE T atomicXor(T* p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }\
  CUDA_ON_CPU_INLINE T atomicExch(T* p, T v) {                                                    \
    cuda_on_cpu::yield_now_and_then();                                                            \
    return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);                                           \
  }                                                                                               \
  CUDA_ON_CPU_INLINE T atomicCAS(T* p, T expected, T v) {                                         \
    cuda_on_cpu::yield_now_and_then();                                                            \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);      \
    return expected;                                                                              \
  }                                                                                               \
  CUDA_ON_CPU_INLINE T atomicMin(T* p, T v) {                                                     \
    return cuda_on_cpu::replace_atomically<Bits>(p, [=](T old) { return v < old ? v : old; });    \
  }                                                                                               \
  CUDA_ON_CPU_INLINE T atomicMax(T* p, T v) {                                                     \
    return cuda_on_cpu::replace_atomically<Bits>(p, [=](T old) { return v > old ? v : old; });    \
  }
CUDA_ON_CPU_ATOMICS(int, uint32_t)
CUDA_ON_CPU_ATOMICS(unsigned, uint32_t)
CUDA_ON_CPU_ATOMICS(long long, uint64_t)
CUDA_ON_CPU_ATOMICS(unsigned long long, uint64_t)
#undef CUDA_ON_CPU_ATOMICS

CUDA_ON_CPU_INLINE unsigned short atomicCAS(unsigned short* p, unsigned short expected,
                                            unsigned short v) {
  cuda_on_cpu::yield_now_and_then();
  __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
CUDA_ON_CPU_INLINE float atomicAdd(float* p, float v) {
  return cuda_on_cpu::replace_atomically<uint32_t>(p, [=](float old) { return old + v; });
}
CUDA_ON_CPU_INLINE double atomicAdd(double* p, double v) {
  return cuda_on_cpu::replace_atomically<uint64_t>(p, [=](double old) { return old + v; });
}
CUDA_ON_CPU_INLINE float2 atomicAdd(float2* p, float2 v) {
  return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)};
}
CUDA_ON_CPU_INLINE float4 atomicAdd(float4* p, float4 v) {
  return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z),
          atomicAdd(&p->w, v.w)};
}
CUDA_ON_CPU_INLINE float atomicExch(float* p, float v) {
  cuda_on_cpu::yield_now_and_then();
  return cuda_on_cpu::replace_atomically<uint32_t>(p, [=](float) { return v; });
}
CUDA_ON_CPU_INLINE unsigned atomicInc(unsigned* p, unsigned limit) {
  return cuda_on_cpu::replace_atomically<uint32_t>(
      p, [=](unsigned old) { return old >= limit ? 0u : old + 1; });
}
CUDA_ON_CPU_INLINE unsigned atomicDec(unsigned* p, unsigned limit) {
  return cuda_on_cpu::replace_atomically<uint32_t>(
      p, [=](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

// The _block and _system variants differ in scope only, and here every scope is the process.
#define CUDA_ON_CPU_SCOPES(name)                                           \
  template <class T>                                                       \
  CUDA_ON_CPU_INLINE T name##_block(T* p, T v) { return name(p, v); }      \
  template <class T>                                                       \
  CUDA_ON_CPU_INLINE T name##_system(T* p, T v) { return name(p, v); }
CUDA_ON_CPU_SCOPES(atomicAdd)
CUDA_ON_CPU_SCOPES(atomicSub)
CUDA_ON_CPU_SCOPES(atomicMin)
CUDA_ON_CPU_SCOPES(atomicMax)
CUDA_ON_CPU_SCOPES(atomicAnd)
CUDA_ON_CPU_SCOPES(atomicOr)
CUDA_ON_CPU_SCOPES(atomicXor)
CUDA_ON_CPU_SCOPES(atomicExch)
#undef CUDA_ON_CPU_SCOPES
