// Arithmetic of a 16-bit float and of its pair, once for __half and once for __nv_bfloat16.
// Included with CUDA_ON_CPU_NARROW_TYPE and CUDA_ON_CPU_NARROW_PAIR defined; no guard on purpose.

#define T CUDA_ON_CPU_NARROW_TYPE
#define P CUDA_ON_CPU_NARROW_PAIR
#define WIDE(v) cuda_on_cpu::wide(v)
#define NARROW(v) cuda_on_cpu::narrow(T(), v)

#define CUDA_ON_CPU_OPERATOR(op)                                                     \
  CUDA_ON_CPU_INLINE T operator op(T a, T b) { return NARROW(WIDE(a) op WIDE(b)); }  \
  CUDA_ON_CPU_INLINE T& operator op##=(T& a, T b) { return a = a op b; }             \
  CUDA_ON_CPU_INLINE P operator op(P a, P b) { return P(a.x op b.x, a.y op b.y); }   \
  CUDA_ON_CPU_INLINE P& operator op##=(P& a, P b) { return a = a op b; }
CUDA_ON_CPU_OPERATOR(+)
CUDA_ON_CPU_OPERATOR(-)
CUDA_ON_CPU_OPERATOR(*)
CUDA_ON_CPU_OPERATOR(/)
#undef CUDA_ON_CPU_OPERATOR
CUDA_ON_CPU_INLINE T operator-(T a) { return NARROW(-WIDE(a)); }
CUDA_ON_CPU_INLINE P operator-(P a) { return P(-a.x, -a.y); }

#define CUDA_ON_CPU_COMPARE(op, name)                                         \
  CUDA_ON_CPU_INLINE bool operator op(T a, T b) { return WIDE(a) op WIDE(b); } \
  CUDA_ON_CPU_INLINE bool name(T a, T b) { return WIDE(a) op WIDE(b); }
CUDA_ON_CPU_COMPARE(<, __hlt)
CUDA_ON_CPU_COMPARE(<=, __hle)
CUDA_ON_CPU_COMPARE(>, __hgt)
CUDA_ON_CPU_COMPARE(>=, __hge)
CUDA_ON_CPU_COMPARE(==, __heq)
CUDA_ON_CPU_COMPARE(!=, __hne)
#undef CUDA_ON_CPU_COMPARE

// Each function of one number, and its twin of a pair.
#define CUDA_ON_CPU_UNARY(name, name2, value)                        \
  CUDA_ON_CPU_INLINE T name(T v) {                                   \
    const float x = WIDE(v);                                         \
    return NARROW(value);                                            \
  }                                                                  \
  CUDA_ON_CPU_INLINE P name2(P v) { return P(name(v.x), name(v.y)); }
#define CUDA_ON_CPU_BINARY(name, name2, value)                                          \
  CUDA_ON_CPU_INLINE T name(T left, T right) {                                          \
    const float a = WIDE(left), b = WIDE(right);                                        \
    return NARROW(value);                                                               \
  }                                                                                     \
  CUDA_ON_CPU_INLINE P name2(P a, P b) { return P(name(a.x, b.x), name(a.y, b.y)); }
CUDA_ON_CPU_UNARY(__hneg, __hneg2, -x)
CUDA_ON_CPU_UNARY(__habs, __habs2, __builtin_fabsf(x))
CUDA_ON_CPU_UNARY(hexp, h2exp, cuda_on_cpu::expf(x))
CUDA_ON_CPU_UNARY(hexp2, h2exp2, cuda_on_cpu::exp2f(x))
CUDA_ON_CPU_UNARY(hlog, h2log, cuda_on_cpu::logf(x))
CUDA_ON_CPU_UNARY(hlog2, h2log2, cuda_on_cpu::log2f(x))
CUDA_ON_CPU_UNARY(htanh, h2tanh, cuda_on_cpu::tanhf(x))
CUDA_ON_CPU_UNARY(hsqrt, h2sqrt, __builtin_sqrtf(x))
CUDA_ON_CPU_UNARY(hrsqrt, h2rsqrt, 1.0f / __builtin_sqrtf(x))
CUDA_ON_CPU_UNARY(hrcp, h2rcp, 1.0f / x)
CUDA_ON_CPU_UNARY(hsin, h2sin, __builtin_sinf(x))
CUDA_ON_CPU_UNARY(hcos, h2cos, __builtin_cosf(x))
CUDA_ON_CPU_UNARY(hfloor, h2floor, __builtin_floorf(x))
CUDA_ON_CPU_UNARY(hceil, h2ceil, __builtin_ceilf(x))
CUDA_ON_CPU_BINARY(__hadd, __hadd2, a + b)
CUDA_ON_CPU_BINARY(__hsub, __hsub2, a - b)
CUDA_ON_CPU_BINARY(__hmul, __hmul2, a * b)
CUDA_ON_CPU_BINARY(__hdiv, __h2div, a / b)
CUDA_ON_CPU_BINARY(__hmax, __hmax2, cuda_on_cpu::larger(a, b))
CUDA_ON_CPU_BINARY(__hmin, __hmin2, cuda_on_cpu::smaller(a, b))
#undef CUDA_ON_CPU_UNARY
#undef CUDA_ON_CPU_BINARY

CUDA_ON_CPU_INLINE T __hfma(T a, T b, T c) {
  return NARROW(__builtin_fmaf(WIDE(a), WIDE(b), WIDE(c)));
}
CUDA_ON_CPU_INLINE P __hfma2(P a, P b, P c) {
  return P(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
CUDA_ON_CPU_INLINE T max(T a, T b) { return __hmax(a, b); }
CUDA_ON_CPU_INLINE T min(T a, T b) { return __hmin(a, b); }
CUDA_ON_CPU_INLINE bool __hisnan(T v) { return WIDE(v) != WIDE(v); }
CUDA_ON_CPU_INLINE int __hisinf(T v) { return __builtin_isinf_sign(WIDE(v)); }
CUDA_ON_CPU_INLINE float __low2float(P v) { return WIDE(v.x); }
CUDA_ON_CPU_INLINE float __high2float(P v) { return WIDE(v.y); }
CUDA_ON_CPU_INLINE T atomicAdd(T* p, T v) {
  return cuda_on_cpu::replace_atomically<uint16_t>(p, [=](T old) { return old + v; });
}
CUDA_ON_CPU_INLINE P atomicAdd(P* p, P v) {
  return cuda_on_cpu::replace_atomically<uint32_t>(p, [=](P old) { return old + v; });
}

#undef T
#undef P
#undef WIDE
#undef NARROW
