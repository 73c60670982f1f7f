// The functions that -fsanitize=thread makes the compiler call; the sanitizer's own library is not
// linked. Written for the interface that GCC and clang share.

#include <cstdlib>
#include <cstring>

#include "accesses.h"

using cuda_on_cpu::checking::access;
using cuda_on_cpu::checking::Act;
using cuda_on_cpu::checking::count_change;

// Behind the call: one less lies inside it, where the debug information names the right line.
#define HERE ((uintptr_t)__builtin_return_address(0) - 1)

#define ACCESSES(kind, is_volatile, n)                                     \
  void __tsan_##kind##read##n(void* address) {                             \
    access((uintptr_t)address, n, Act::read, is_volatile, HERE);           \
  }                                                                        \
  void __tsan_##kind##write##n(void* address) {                            \
    access((uintptr_t)address, n, Act::write, is_volatile, HERE);          \
  }
#define ALL_SIZES(kind, is_volatile)                                                     \
  ACCESSES(kind, is_volatile, 1) ACCESSES(kind, is_volatile, 2) ACCESSES(kind, is_volatile, 4) \
  ACCESSES(kind, is_volatile, 8) ACCESSES(kind, is_volatile, 16)

#define ATOMICS(bits, T)                                                                       \
  T __tsan_atomic##bits##_load(const T* p, int) {                                              \
    access((uintptr_t)p, bits / 8, Act::load_atomically, false, HERE);                         \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
  }                                                                                            \
  void __tsan_atomic##bits##_store(T* p, T v, int) {                                           \
    access((uintptr_t)p, bits / 8, Act::update, false, HERE);                                  \
    count_change();                                                                            \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                            \
  CHANGE(bits, T, exchange, __atomic_exchange_n)                                               \
  CHANGE(bits, T, fetch_add, __atomic_fetch_add)                                               \
  CHANGE(bits, T, fetch_sub, __atomic_fetch_sub)                                               \
  CHANGE(bits, T, fetch_and, __atomic_fetch_and)                                               \
  CHANGE(bits, T, fetch_or, __atomic_fetch_or)                                                 \
  CHANGE(bits, T, fetch_xor, __atomic_fetch_xor)                                               \
  COMPARE(bits, T, strong)                                                                     \
  COMPARE(bits, T, weak)                                                                       \
  T __tsan_atomic##bits##_compare_exchange_val(T* p, T expected, T v, int, int) {              \
    access((uintptr_t)p, bits / 8, Act::update, false, HERE);                                  \
    if (__atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) \
      count_change();                                                                          \
    return expected;                                                                           \
  }
#define CHANGE(bits, T, name, builtin)                                  \
  T __tsan_atomic##bits##_##name(T* p, T v, int) {                      \
    access((uintptr_t)p, bits / 8, Act::update, false, HERE);           \
    const T before = builtin(p, v, __ATOMIC_SEQ_CST);                   \
    if (*p != before) count_change();                                   \
    return before;                                                      \
  }
#define COMPARE(bits, T, strength)                                                             \
  int __tsan_atomic##bits##_compare_exchange_##strength(T* p, T* expected, T v, int, int) {    \
    access((uintptr_t)p, bits / 8, Act::update, false, HERE);                                  \
    const bool is_done = __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST,  \
                                                     __ATOMIC_SEQ_CST);                        \
    if (is_done && *expected != v) count_change();                                             \
    return is_done;                                                                            \
  }

// What a kernel allocates is memory that kernels may reach.
#define ALLOCATE(name)                                 \
  void* name(size_t bytes);                            \
  void* __wrap_##name(size_t bytes) {                  \
    void* const memory = name(bytes);                  \
    cuda_on_cpu::checking::note_heap(memory, bytes);   \
    return memory;                                     \
  }
#define FREE(name, parameters, arguments)              \
  void name parameters;                                \
  void __wrap_##name parameters {                      \
    cuda_on_cpu::checking::forget_heap(memory);        \
    name arguments;                                    \
  }
#define COPY(prefix, name)                                              \
  void* prefix##name(void* to, const void* from, size_t bytes) {       \
    if (bytes) {                                                       \
      access((uintptr_t)from, bytes, Act::read, false, HERE);          \
      access((uintptr_t)to, bytes, Act::write, false, HERE);           \
    }                                                                  \
    return name(to, from, bytes);                                      \
  }
#define FILL(prefix)                                                    \
  void* prefix##memset(void* to, int value, size_t bytes) {            \
    if (bytes) access((uintptr_t)to, bytes, Act::write, false, HERE);  \
    return memset(to, value, bytes);                                   \
  }

extern "C" {

ALL_SIZES(, false)
ALL_SIZES(unaligned_, false)
ALL_SIZES(volatile_, true)
ALL_SIZES(unaligned_volatile_, true)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

void __tsan_read_range(void* address, size_t bytes) {
  if (bytes) access((uintptr_t)address, bytes, Act::read, false, HERE);
}
void __tsan_write_range(void* address, size_t bytes) {
  if (bytes) access((uintptr_t)address, bytes, Act::write, false, HERE);
}
void __tsan_atomic_thread_fence(int) {
  cuda_on_cpu::checking::fence();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}
void __tsan_init(void) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

// The linker sends the library calls of the kernels here.
ALLOCATE(malloc)
ALLOCATE(_Znwm)
ALLOCATE(_Znam)
FREE(free, (void* memory), (memory))
FREE(_ZdlPv, (void* memory), (memory))
FREE(_ZdaPv, (void* memory), (memory))
FREE(_ZdlPvm, (void* memory, size_t bytes), (memory, bytes))
FREE(_ZdaPvm, (void* memory, size_t bytes), (memory, bytes))
COPY(__wrap_, memcpy)
COPY(__wrap_, memmove)
FILL(__wrap_)
// Newer versions of clang call these in the first place.
COPY(__tsan_, memcpy)
COPY(__tsan_, memmove)
FILL(__tsan_)

}  // extern "C"
