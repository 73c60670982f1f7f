// Arithmetic and comparisons of a 16-bit float and of its pair, once for __half and once for
// __nv_bfloat16. Computed in single precision and rounded once: a float has more than twice the
// digits, so that rounding its sums, products, quotients and roots again is exact.
//
// Included with CUDA_ON_CPU_NARROW_TYPE and CUDA_ON_CPU_NARROW_PAIR defined; no guard on purpose.

// A program may have macros of these names.
#pragma push_macro("T")
#pragma push_macro("P")
#pragma push_macro("WIDE")
#pragma push_macro("NARROW")
#undef T
#undef P
#undef WIDE
#undef NARROW
#define T CUDA_ON_CPU_NARROW_TYPE
#define P CUDA_ON_CPU_NARROW_PAIR
#define WIDE(v) cuda_on_cpu::wide(v)
#define NARROW(v) cuda_on_cpu::narrow(T(), v)

#define CUDA_ON_CPU_OPERATOR(op)                                                    \
  CUDA_ON_CPU_INLINE T operator op(T a, T b) { return NARROW(WIDE(a) op WIDE(b)); } \
  CUDA_ON_CPU_INLINE T& operator op##=(T& a, T b) { return a = a op b; }            \
  CUDA_ON_CPU_INLINE P operator op(P a, P b) { return P(a.x op b.x, a.y op b.y); }  \
  CUDA_ON_CPU_INLINE P& operator op##=(P& a, P b) { return a = a op b; }
CUDA_ON_CPU_OPERATOR(+)
CUDA_ON_CPU_OPERATOR(-)
CUDA_ON_CPU_OPERATOR(*)
CUDA_ON_CPU_OPERATOR(/)
#undef CUDA_ON_CPU_OPERATOR
CUDA_ON_CPU_INLINE T operator+(T a) { return a; }
CUDA_ON_CPU_INLINE P operator+(P a) { return a; }
CUDA_ON_CPU_INLINE T operator-(T a) { return NARROW(-WIDE(a)); }
CUDA_ON_CPU_INLINE P operator-(P a) { return P(-a.x, -a.y); }
#define CUDA_ON_CPU_STEP(V, op, one)                                       \
  CUDA_ON_CPU_INLINE V& operator op##op(V& a) { return a = a op one; }     \
  CUDA_ON_CPU_INLINE V operator op##op(V& a, int) {                        \
    const V old = a;                                                       \
    a = a op one;                                                          \
    return old;                                                            \
  }
CUDA_ON_CPU_STEP(T, +, T(1.0f))
CUDA_ON_CPU_STEP(T, -, T(1.0f))
CUDA_ON_CPU_STEP(P, +, P(T(1.0f), T(1.0f)))
CUDA_ON_CPU_STEP(P, -, P(T(1.0f), T(1.0f)))
#undef CUDA_ON_CPU_STEP

#define CUDA_ON_CPU_BINARY(name, name2, value)                                        \
  CUDA_ON_CPU_INLINE T name(T left, T right) {                                        \
    const float a = WIDE(left), b = WIDE(right);                                      \
    return NARROW(value);                                                             \
  }                                                                                   \
  CUDA_ON_CPU_INLINE P name2(P a, P b) { return P(name(a.x, b.x), name(a.y, b.y)); }
CUDA_ON_CPU_BINARY(__hadd, __hadd2, a + b)
CUDA_ON_CPU_BINARY(__hsub, __hsub2, a - b)
CUDA_ON_CPU_BINARY(__hmul, __hmul2, a * b)
CUDA_ON_CPU_BINARY(__hdiv, __h2div, a / b)
CUDA_ON_CPU_BINARY(__hadd_rn, __hadd2_rn, a + b)
CUDA_ON_CPU_BINARY(__hsub_rn, __hsub2_rn, a - b)
CUDA_ON_CPU_BINARY(__hmul_rn, __hmul2_rn, a * b)
CUDA_ON_CPU_BINARY(__hadd_sat, __hadd2_sat, cuda_on_cpu::saturated(a + b))
CUDA_ON_CPU_BINARY(__hsub_sat, __hsub2_sat, cuda_on_cpu::saturated(a - b))
CUDA_ON_CPU_BINARY(__hmul_sat, __hmul2_sat, cuda_on_cpu::saturated(a * b))
// Of two zeros the positive one is the larger; the plain forms drop a NaN, the others keep it.
CUDA_ON_CPU_BINARY(__hmax, __hmax2, cuda_on_cpu::larger_zero_aware(a, b))
CUDA_ON_CPU_BINARY(__hmin, __hmin2, -cuda_on_cpu::larger_zero_aware(-a, -b))
CUDA_ON_CPU_BINARY(__hmax_nan, __hmax2_nan,
                   a != a || b != b ? cuda_on_cpu::not_a_number
                                    : cuda_on_cpu::larger_zero_aware(a, b))
CUDA_ON_CPU_BINARY(__hmin_nan, __hmin2_nan,
                   a != a || b != b ? cuda_on_cpu::not_a_number
                                    : -cuda_on_cpu::larger_zero_aware(-a, -b))
#undef CUDA_ON_CPU_BINARY
CUDA_ON_CPU_INLINE T max(T a, T b) { return __hmax(a, b); }
CUDA_ON_CPU_INLINE T min(T a, T b) { return __hmin(a, b); }

// The forms with u hold where a number is NaN, the others do not.
#define CUDA_ON_CPU_COMPARE(name, holds)                                                  \
  CUDA_ON_CPU_INLINE bool __h##name(T left, T right) {                                    \
    const float a = WIDE(left), b = WIDE(right);                                          \
    return holds;                                                                         \
  }                                                                                       \
  CUDA_ON_CPU_INLINE P __h##name##2(P a, P b) {                                           \
    return P(T(__h##name(a.x, b.x) ? 1.0f : 0.0f), T(__h##name(a.y, b.y) ? 1.0f : 0.0f)); \
  }                                                                                       \
  CUDA_ON_CPU_INLINE unsigned __h##name##2_mask(P a, P b) {                               \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u); \
  }                                                                                       \
  CUDA_ON_CPU_INLINE bool __hb##name##2(P a, P b) {                                       \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                    \
  }
CUDA_ON_CPU_COMPARE(lt, a < b)
CUDA_ON_CPU_COMPARE(le, a <= b)
CUDA_ON_CPU_COMPARE(gt, a > b)
CUDA_ON_CPU_COMPARE(ge, a >= b)
CUDA_ON_CPU_COMPARE(eq, a == b)
CUDA_ON_CPU_COMPARE(ne, a < b || a > b)
CUDA_ON_CPU_COMPARE(ltu, !(a >= b))
CUDA_ON_CPU_COMPARE(leu, !(a > b))
CUDA_ON_CPU_COMPARE(gtu, !(a <= b))
CUDA_ON_CPU_COMPARE(geu, !(a < b))
CUDA_ON_CPU_COMPARE(equ, !(a < b || a > b))
CUDA_ON_CPU_COMPARE(neu, a != b)
#undef CUDA_ON_CPU_COMPARE
#define CUDA_ON_CPU_COMPARE(op, name)                                         \
  CUDA_ON_CPU_INLINE bool operator op(T a, T b) { return __h##name(a, b); }   \
  CUDA_ON_CPU_INLINE bool operator op(P a, P b) { return __hb##name##2(a, b); }
CUDA_ON_CPU_COMPARE(<, lt)
CUDA_ON_CPU_COMPARE(<=, le)
CUDA_ON_CPU_COMPARE(>, gt)
CUDA_ON_CPU_COMPARE(>=, ge)
CUDA_ON_CPU_COMPARE(==, eq)
CUDA_ON_CPU_COMPARE(!=, neu)
#undef CUDA_ON_CPU_COMPARE

CUDA_ON_CPU_INLINE T __hfma(T a, T b, T c) {
  return NARROW(cuda_on_cpu::fused_to_odd(WIDE(a), WIDE(b), WIDE(c)));
}
CUDA_ON_CPU_INLINE T __hfma_sat(T a, T b, T c) {
  return NARROW(cuda_on_cpu::saturated(cuda_on_cpu::fused_to_odd(WIDE(a), WIDE(b), WIDE(c))));
}
CUDA_ON_CPU_INLINE T __hfma_relu(T a, T b, T c) {
  const float v = cuda_on_cpu::fused_to_odd(WIDE(a), WIDE(b), WIDE(c));
  return NARROW(v <= 0.0f ? 0.0f : v);
}
#define CUDA_ON_CPU_OF_THREE(name, name2)            \
  CUDA_ON_CPU_INLINE P name2(P a, P b, P c) {        \
    return P(name(a.x, b.x, c.x), name(a.y, b.y, c.y)); \
  }
CUDA_ON_CPU_OF_THREE(__hfma, __hfma2)
CUDA_ON_CPU_OF_THREE(__hfma_sat, __hfma2_sat)
CUDA_ON_CPU_OF_THREE(__hfma_relu, __hfma2_relu)
#undef CUDA_ON_CPU_OF_THREE
// Complex numbers: a * b + c.
CUDA_ON_CPU_INLINE P __hcmadd(P a, P b, P c) {
  return P(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}

CUDA_ON_CPU_INLINE T atomicAdd(T* p, T v) {
  return cuda_on_cpu::replace_atomically<uint16_t>(p, [=](T old) { return old + v; });
}
CUDA_ON_CPU_INLINE P atomicAdd(P* p, P v) {
  return cuda_on_cpu::replace_atomically<uint32_t>(p, [=](P old) { return old + v; });
}

#pragma pop_macro("T")
#pragma pop_macro("P")
#pragma pop_macro("WIDE")
#pragma pop_macro("NARROW")
