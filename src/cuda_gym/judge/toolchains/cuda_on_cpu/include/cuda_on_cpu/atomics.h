// Atomic operations on memory: relaxed, as CUDA's are, and for the types that CUDA has them for.
//
// The _block and _system variants differ in scope only, and here every scope is the process.
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

// One operation in its three scopes.
#define CUDA_ON_CPU_ATOMIC_OF_ONE(name, T, ...)                                \
  CUDA_ON_CPU_INLINE T name(T* p, T v) { __VA_ARGS__ }                         \
  CUDA_ON_CPU_INLINE T name##_block(T* p, T v) { return name(p, v); }          \
  CUDA_ON_CPU_INLINE T name##_system(T* p, T v) { return name(p, v); }
#define CUDA_ON_CPU_ATOMIC_CAS(T)                                                            \
  CUDA_ON_CPU_INLINE T atomicCAS(T* p, T expected, T v) {                                    \
    cuda_on_cpu::yield_now_and_then();                                                       \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
    return expected;                                                                         \
  }                                                                                          \
  CUDA_ON_CPU_INLINE T atomicCAS_block(T* p, T expected, T v) {                              \
    return atomicCAS(p, expected, v);                                                        \
  }                                                                                          \
  CUDA_ON_CPU_INLINE T atomicCAS_system(T* p, T expected, T v) {                             \
    return atomicCAS(p, expected, v);                                                        \
  }
#define CUDA_ON_CPU_ATOMIC_CHANGE(name, T, Bits, value) \
  CUDA_ON_CPU_ATOMIC_OF_ONE(                            \
      name, T, return cuda_on_cpu::replace_atomically<Bits>(p, [=](T old) { return value; });)
// atomicAdd(p, 0) only looks, and mostly again and again until it sees a change.
#define CUDA_ON_CPU_ATOMIC_BUILTIN(name, T, builtin)                                              \
  CUDA_ON_CPU_ATOMIC_OF_ONE(                                                                      \
      name, T, if (__builtin_constant_p(v) && v == 0) cuda_on_cpu::yield_now_and_then();          \
      return builtin(p, v, __ATOMIC_RELAXED);)
#define CUDA_ON_CPU_ATOMIC_EXCHANGE(T)                                       \
  CUDA_ON_CPU_ATOMIC_OF_ONE(atomicExch, T, cuda_on_cpu::yield_now_and_then(); \
                            return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);)

#define CUDA_ON_CPU_ATOMICS(T, Bits)                              \
  CUDA_ON_CPU_ATOMIC_BUILTIN(atomicAdd, T, __atomic_fetch_add)    \
  CUDA_ON_CPU_ATOMIC_BUILTIN(atomicAnd, T, __atomic_fetch_and)    \
  CUDA_ON_CPU_ATOMIC_BUILTIN(atomicOr, T, __atomic_fetch_or)      \
  CUDA_ON_CPU_ATOMIC_BUILTIN(atomicXor, T, __atomic_fetch_xor)    \
  CUDA_ON_CPU_ATOMIC_CHANGE(atomicMin, T, Bits, v < old ? v : old) \
  CUDA_ON_CPU_ATOMIC_CHANGE(atomicMax, T, Bits, v > old ? v : old) \
  CUDA_ON_CPU_ATOMIC_EXCHANGE(T)                                  \
  CUDA_ON_CPU_ATOMIC_CAS(T)
CUDA_ON_CPU_ATOMICS(int, uint32_t)
CUDA_ON_CPU_ATOMICS(unsigned, uint32_t)
CUDA_ON_CPU_ATOMICS(unsigned long long, uint64_t)
CUDA_ON_CPU_ATOMIC_BUILTIN(atomicSub, int, __atomic_fetch_sub)
CUDA_ON_CPU_ATOMIC_BUILTIN(atomicSub, unsigned, __atomic_fetch_sub)
CUDA_ON_CPU_ATOMIC_CHANGE(atomicMin, long long, uint64_t, v < old ? v : old)
CUDA_ON_CPU_ATOMIC_CHANGE(atomicMax, long long, uint64_t, v > old ? v : old)
CUDA_ON_CPU_ATOMIC_CAS(unsigned short)
CUDA_ON_CPU_ATOMIC_CHANGE(atomicInc, unsigned, uint32_t, old >= v ? 0u : old + 1)
CUDA_ON_CPU_ATOMIC_CHANGE(atomicDec, unsigned, uint32_t, old == 0 || old > v ? v : old - 1)

CUDA_ON_CPU_ATOMIC_CHANGE(atomicAdd, float, uint32_t, old + v)
CUDA_ON_CPU_ATOMIC_CHANGE(atomicAdd, double, uint64_t, old + v)
CUDA_ON_CPU_ATOMIC_OF_ONE(atomicExch, float, cuda_on_cpu::yield_now_and_then();
                          return cuda_on_cpu::replace_atomically<uint32_t>(
                              p, [=](float) { return v; });)
// As on a GPU each number is added atomically, and the vector is not.
CUDA_ON_CPU_ATOMIC_OF_ONE(atomicAdd, float2,
                          return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)};)
CUDA_ON_CPU_ATOMIC_OF_ONE(atomicAdd, float4,
                          return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y),
                                  atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w)};)

namespace cuda_on_cpu {

template <bool holds, class T>
struct If {};
template <class T>
struct If<true, T> {
  using type = T;
};

#if !defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
inline bool lock_of_16_bytes;
#endif

// Replaces 16 bytes where they are `expected`; returns the old ones.
CUDA_ON_CPU_INLINE unsigned __int128 exchange_16_bytes(unsigned __int128* p,
                                                       unsigned __int128 expected,
                                                       unsigned __int128 v) {
#if defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
  return __sync_val_compare_and_swap(p, expected, v);
#else
  // A lock, since the compiler would call a library that may not be installed.
  while (__atomic_test_and_set(&lock_of_16_bytes, __ATOMIC_ACQUIRE)) {
  }
  const unsigned __int128 old = *p;
  if (old == expected) *p = v;
  __atomic_clear(&lock_of_16_bytes, __ATOMIC_RELEASE);
  return old;
#endif
}

template <class T>
using If16Bytes = typename If<sizeof(T) == 16 && alignof(T) == 16, T>::type;

}  // namespace cuda_on_cpu

template <class T>
CUDA_ON_CPU_INLINE cuda_on_cpu::If16Bytes<T> atomicCAS(T* p, T expected, T v) {
  using Bits = unsigned __int128;
  cuda_on_cpu::yield_now_and_then();
  const Bits old = cuda_on_cpu::exchange_16_bytes(reinterpret_cast<Bits*>(p),
                                                  __builtin_bit_cast(Bits, expected),
                                                  __builtin_bit_cast(Bits, v));
  return __builtin_bit_cast(T, old);
}
template <class T>
CUDA_ON_CPU_INLINE cuda_on_cpu::If16Bytes<T> atomicExch(T* p, T v) {
  using Bits = unsigned __int128;
  const Bits bits = __builtin_bit_cast(Bits, v);
  Bits* const place = reinterpret_cast<Bits*>(p);
  Bits seen = 0;
  for (;;) {
    const Bits old = cuda_on_cpu::exchange_16_bytes(place, seen, bits);
    if (old == seen) return __builtin_bit_cast(T, old);
    seen = old;
  }
}
#define CUDA_ON_CPU_SCOPES(scope)                                                               \
  template <class T>                                                                            \
  CUDA_ON_CPU_INLINE cuda_on_cpu::If16Bytes<T> atomicCAS##scope(T* p, T expected, T v) {        \
    return atomicCAS(p, expected, v);                                                           \
  }                                                                                             \
  template <class T>                                                                            \
  CUDA_ON_CPU_INLINE cuda_on_cpu::If16Bytes<T> atomicExch##scope(T* p, T v) {                   \
    return atomicExch(p, v);                                                                    \
  }
CUDA_ON_CPU_SCOPES(_block)
CUDA_ON_CPU_SCOPES(_system)
#undef CUDA_ON_CPU_SCOPES
#undef CUDA_ON_CPU_ATOMICS
#undef CUDA_ON_CPU_ATOMIC_CAS
#undef CUDA_ON_CPU_ATOMIC_CHANGE
#undef CUDA_ON_CPU_ATOMIC_BUILTIN
#undef CUDA_ON_CPU_ATOMIC_EXCHANGE
#undef CUDA_ON_CPU_ATOMIC_OF_ONE
