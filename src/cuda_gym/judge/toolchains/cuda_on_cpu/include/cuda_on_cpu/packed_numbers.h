// Intrinsics that take a word for two 16-bit or four 8-bit numbers (CUDA: SIMD video instructions),
// and the minimum and maximum of three.
#pragma once

#include <cstdint>

#include "language.h"

namespace cuda_on_cpu {

// Applies a function to the numbers of two words, place by place; results are cut to their place.
template <class Number, class Function>
CUDA_ON_CPU_INLINE unsigned by_place(unsigned a, unsigned b, Function function) {
  constexpr unsigned bits = 8 * sizeof(Number), mask = (1u << bits) - 1;
  unsigned result = 0;
  for (unsigned place = 0; place < 32; place += bits)
    result |= ((unsigned)function((int)(Number)(a >> place), (int)(Number)(b >> place)) & mask)
              << place;
  return result;
}
template <class Number>
CUDA_ON_CPU_INLINE int within(int v) {
  constexpr bool is_signed = (Number)-1 < (Number)0;
  constexpr int bits = 8 * (int)sizeof(Number) - is_signed;
  constexpr int largest = (int)((1u << bits) - 1), smallest = is_signed ? -largest - 1 : 0;
  return v < smallest ? smallest : v > largest ? largest : v;
}
template <class Number>
CUDA_ON_CPU_INLINE unsigned sum_of_differences(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (unsigned place = 0; place < 32; place += 8 * sizeof(Number)) {
    const int x = (int)(Number)(a >> place), y = (int)(Number)(b >> place);
    sum += (unsigned)(x < y ? y - x : x - y);
  }
  return sum;
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_PACKED(name, Number, value)                                           \
  CUDA_ON_CPU_INLINE unsigned name(unsigned left, unsigned right) {                       \
    return cuda_on_cpu::by_place<Number>(left, right, [](int a, int b) { return value; }); \
  }
#define CUDA_ON_CPU_PACKED_OF_ONE(name, Number, value)                                  \
  CUDA_ON_CPU_INLINE unsigned name(unsigned word) {                                     \
    return cuda_on_cpu::by_place<Number>(word, 0, [](int a, int) { return value; });    \
  }
#define CUDA_ON_CPU_PACKED_COMPARE(name, n, Number, holds)          \
  CUDA_ON_CPU_PACKED(__vcmp##name##n, Number, (holds) ? -1 : 0)     \
  CUDA_ON_CPU_PACKED(__vset##name##n, Number, (holds) ? 1 : 0)
// `n` numbers of type S or U in a word.
#define CUDA_ON_CPU_PACKED_ALL(n, S, U)                                                  \
  CUDA_ON_CPU_PACKED(__vadd##n, U, a + b)                                                \
  CUDA_ON_CPU_PACKED(__vaddss##n, S, cuda_on_cpu::within<S>(a + b))                      \
  CUDA_ON_CPU_PACKED(__vaddus##n, U, cuda_on_cpu::within<U>(a + b))                      \
  CUDA_ON_CPU_PACKED(__vsub##n, U, a - b)                                                \
  CUDA_ON_CPU_PACKED(__vsubss##n, S, cuda_on_cpu::within<S>(a - b))                      \
  CUDA_ON_CPU_PACKED(__vsubus##n, U, cuda_on_cpu::within<U>(a - b))                      \
  CUDA_ON_CPU_PACKED(__vabsdiffs##n, S, a < b ? b - a : a - b)                           \
  CUDA_ON_CPU_PACKED(__vabsdiffu##n, U, a < b ? b - a : a - b)                           \
  CUDA_ON_CPU_PACKED(__vavgs##n, S, (a + b + (a + b >= 0)) >> 1)                         \
  CUDA_ON_CPU_PACKED(__vavgu##n, U, (a + b + 1) >> 1)                                    \
  CUDA_ON_CPU_PACKED(__vhaddu##n, U, (a + b) >> 1)                                       \
  CUDA_ON_CPU_PACKED(__vmaxs##n, S, a > b ? a : b)                                       \
  CUDA_ON_CPU_PACKED(__vmaxu##n, U, a > b ? a : b)                                       \
  CUDA_ON_CPU_PACKED(__vmins##n, S, a < b ? a : b)                                       \
  CUDA_ON_CPU_PACKED(__vminu##n, U, a < b ? a : b)                                       \
  CUDA_ON_CPU_PACKED_OF_ONE(__vabs##n, S, a < 0 ? -a : a)                                \
  CUDA_ON_CPU_PACKED_OF_ONE(__vabsss##n, S, cuda_on_cpu::within<S>(a < 0 ? -a : a))      \
  CUDA_ON_CPU_PACKED_OF_ONE(__vneg##n, S, -a)                                            \
  CUDA_ON_CPU_PACKED_OF_ONE(__vnegss##n, S, cuda_on_cpu::within<S>(-a))                  \
  CUDA_ON_CPU_PACKED_COMPARE(eq, n, U, a == b)                                           \
  CUDA_ON_CPU_PACKED_COMPARE(ne, n, U, a != b)                                           \
  CUDA_ON_CPU_PACKED_COMPARE(ges, n, S, a >= b)                                          \
  CUDA_ON_CPU_PACKED_COMPARE(geu, n, U, a >= b)                                          \
  CUDA_ON_CPU_PACKED_COMPARE(gts, n, S, a > b)                                           \
  CUDA_ON_CPU_PACKED_COMPARE(gtu, n, U, a > b)                                           \
  CUDA_ON_CPU_PACKED_COMPARE(les, n, S, a <= b)                                          \
  CUDA_ON_CPU_PACKED_COMPARE(leu, n, U, a <= b)                                          \
  CUDA_ON_CPU_PACKED_COMPARE(lts, n, S, a < b)                                           \
  CUDA_ON_CPU_PACKED_COMPARE(ltu, n, U, a < b)                                           \
  CUDA_ON_CPU_INLINE unsigned __vsads##n(unsigned a, unsigned b) {                       \
    return cuda_on_cpu::sum_of_differences<S>(a, b);                                     \
  }                                                                                      \
  CUDA_ON_CPU_INLINE unsigned __vsadu##n(unsigned a, unsigned b) {                       \
    return cuda_on_cpu::sum_of_differences<U>(a, b);                                     \
  }
CUDA_ON_CPU_PACKED_ALL(2, int16_t, uint16_t)
CUDA_ON_CPU_PACKED_ALL(4, int8_t, uint8_t)
#undef CUDA_ON_CPU_PACKED_ALL
#undef CUDA_ON_CPU_PACKED_COMPARE
#undef CUDA_ON_CPU_PACKED_OF_ONE
#undef CUDA_ON_CPU_PACKED

// Minimum and maximum with an addition before, of three numbers, cut off below zero, and with the
// answer to which one it was: of words and of pairs of 16-bit numbers.
#define CUDA_ON_CPU_EXTREME(which, op, suffix, W, Unsigned)                                        \
  CUDA_ON_CPU_INLINE W __viadd##which##_##suffix(W a, W b, W c) {                                  \
    const W sum = (W)((Unsigned)a + (Unsigned)b);                                                  \
    return sum op c ? sum : c;                                                                     \
  }                                                                                                \
  CUDA_ON_CPU_INLINE W __vi##which##3_##suffix(W a, W b, W c) {                                    \
    const W first = a op b ? a : b;                                                                \
    return first op c ? first : c;                                                                 \
  }                                                                                                \
  CUDA_ON_CPU_INLINE W __vib##which##_##suffix(W a, W b, bool* is_first) {                         \
    *is_first = !(b op a);                                                                         \
    return *is_first ? a : b;                                                                      \
  }
#define CUDA_ON_CPU_EXTREME_OF_PAIRS(which, op, suffix, Number)                                    \
  CUDA_ON_CPU_INLINE unsigned __viadd##which##_##suffix(unsigned a, unsigned b, unsigned c) {      \
    return cuda_on_cpu::by_place<Number>(__vadd2(a, b), c,                                         \
                                         [](int x, int y) { return x op y ? x : y; });             \
  }                                                                                                \
  CUDA_ON_CPU_INLINE unsigned __vi##which##3_##suffix(unsigned a, unsigned b, unsigned c) {        \
    const auto pick = [](int x, int y) { return x op y ? x : y; };                                 \
    return cuda_on_cpu::by_place<Number>(cuda_on_cpu::by_place<Number>(a, b, pick), c, pick);      \
  }                                                                                                \
  CUDA_ON_CPU_INLINE unsigned __vib##which##_##suffix(unsigned a, unsigned b, bool* is_first_high, \
                                                      bool* is_first_low) {                        \
    *is_first_high = !((Number)(b >> 16) op (Number)(a >> 16));                                    \
    *is_first_low = !((Number)b op (Number)a);                                                     \
    return cuda_on_cpu::by_place<Number>(a, b, [](int x, int y) { return x op y ? x : y; });       \
  }
#define CUDA_ON_CPU_EXTREMES(which, op)                          \
  CUDA_ON_CPU_EXTREME(which, op, s32, int, unsigned)             \
  CUDA_ON_CPU_EXTREME(which, op, u32, unsigned, unsigned)        \
  CUDA_ON_CPU_EXTREME_OF_PAIRS(which, op, s16x2, int16_t)        \
  CUDA_ON_CPU_EXTREME_OF_PAIRS(which, op, u16x2, uint16_t)       \
  CUDA_ON_CPU_RELU(which, s32, int)                              \
  CUDA_ON_CPU_RELU(which, s16x2, unsigned)
namespace cuda_on_cpu {
CUDA_ON_CPU_INLINE int or_0(int v) { return v < 0 ? 0 : v; }
CUDA_ON_CPU_INLINE unsigned or_0(unsigned pair) { return __vmaxs2(pair, 0); }
}  // namespace cuda_on_cpu
#define CUDA_ON_CPU_RELU(which, suffix, W)                                \
  CUDA_ON_CPU_INLINE W __viadd##which##_##suffix##_relu(W a, W b, W c) {  \
    return cuda_on_cpu::or_0(__viadd##which##_##suffix(a, b, c));                       \
  }                                                                       \
  CUDA_ON_CPU_INLINE W __vi##which##3_##suffix##_relu(W a, W b, W c) {    \
    return cuda_on_cpu::or_0(__vi##which##3_##suffix(a, b, c));                         \
  }                                                                       \
  CUDA_ON_CPU_INLINE W __vi##which##_##suffix##_relu(W a, W b) {          \
    return cuda_on_cpu::or_0(__vi##which##3_##suffix(a, b, b));                         \
  }
CUDA_ON_CPU_EXTREMES(max, >)
CUDA_ON_CPU_EXTREMES(min, <)
#undef CUDA_ON_CPU_EXTREMES
#undef CUDA_ON_CPU_RELU
#undef CUDA_ON_CPU_EXTREME
#undef CUDA_ON_CPU_EXTREME_OF_PAIRS
