// Functions of a 16-bit float and its conversions, once for __half and once for __nv_bfloat16.
//
// Included with CUDA_ON_CPU_NARROW_TYPE, CUDA_ON_CPU_NARROW_PAIR and CUDA_ON_CPU_NARROW_NAME (what
// conversions call it: half) defined; no guard on purpose.

// A program may have macros of these names.
#pragma push_macro("T")
#pragma push_macro("P")
#pragma push_macro("N")
#pragma push_macro("WIDE")
#pragma push_macro("NARROW")
#pragma push_macro("JOIN5")
#pragma push_macro("JOIN5_")
#undef T
#undef P
#undef N
#undef WIDE
#undef NARROW
#undef JOIN5
#undef JOIN5_
#define T CUDA_ON_CPU_NARROW_TYPE
#define P CUDA_ON_CPU_NARROW_PAIR
#define N CUDA_ON_CPU_NARROW_NAME
#define WIDE(v) cuda_on_cpu::wide(v)
#define NARROW(v) cuda_on_cpu::narrow(T(), v)
#define JOIN5_(a, b, c, d, e) a##b##c##d##e
#define JOIN5(a, b, c, d, e) JOIN5_(a, b, c, d, e)

// Each function of one number, and its twin of a pair.
#define CUDA_ON_CPU_UNARY(name, name2, value) \
  CUDA_ON_CPU_INLINE T name(T v) {            \
    const float x = WIDE(v);                  \
    return NARROW(value);                     \
  }                                           \
  CUDA_ON_CPU_INLINE P name2(P v) { return P(name(v.x), name(v.y)); }
CUDA_ON_CPU_UNARY(__hneg, __hneg2, -x)
CUDA_ON_CPU_UNARY(__habs, __habs2, __builtin_fabsf(x))
CUDA_ON_CPU_UNARY(hexp, h2exp, cuda_on_cpu::expf(x))
CUDA_ON_CPU_UNARY(hexp2, h2exp2, cuda_on_cpu::exp2f(x))
CUDA_ON_CPU_UNARY(hexp10, h2exp10, ::exp10f(x))
CUDA_ON_CPU_UNARY(hlog, h2log, cuda_on_cpu::logf(x))
CUDA_ON_CPU_UNARY(hlog2, h2log2, cuda_on_cpu::log2f(x))
CUDA_ON_CPU_UNARY(hlog10, h2log10, cuda_on_cpu::log10f(x))
CUDA_ON_CPU_UNARY(htanh, h2tanh, cuda_on_cpu::tanhf(x))
CUDA_ON_CPU_UNARY(htanh_approx, h2tanh_approx, cuda_on_cpu::tanhf(x))
CUDA_ON_CPU_UNARY(hsqrt, h2sqrt, __builtin_sqrtf(x))
CUDA_ON_CPU_UNARY(hrsqrt, h2rsqrt, 1.0f / __builtin_sqrtf(x))
CUDA_ON_CPU_UNARY(hrcp, h2rcp, 1.0f / x)
CUDA_ON_CPU_UNARY(hsin, h2sin, __builtin_sinf(x))
CUDA_ON_CPU_UNARY(hcos, h2cos, __builtin_cosf(x))
CUDA_ON_CPU_UNARY(hfloor, h2floor, __builtin_floorf(x))
CUDA_ON_CPU_UNARY(hceil, h2ceil, __builtin_ceilf(x))
CUDA_ON_CPU_UNARY(htrunc, h2trunc, __builtin_truncf(x))
CUDA_ON_CPU_UNARY(hrint, h2rint, __builtin_rintf(x))
#undef CUDA_ON_CPU_UNARY
CUDA_ON_CPU_INLINE bool __hisnan(T v) { return WIDE(v) != WIDE(v); }
CUDA_ON_CPU_INLINE int __hisinf(T v) { return __builtin_isinf_sign(WIDE(v)); }
CUDA_ON_CPU_INLINE P __hisnan2(P v) {
  return P(T(__hisnan(v.x) ? 1.0f : 0.0f), T(__hisnan(v.y) ? 1.0f : 0.0f));
}

CUDA_ON_CPU_INLINE float JOIN5(__, N, 2float, , )(T v) { return WIDE(v); }
CUDA_ON_CPU_INLINE T JOIN5(__float2, N, , , )(float v) { return NARROW(v); }
CUDA_ON_CPU_INLINE T JOIN5(__float2, N, _rn, , )(float v) { return NARROW(v); }
CUDA_ON_CPU_INLINE T JOIN5(__double2, N, , , )(double v) { return NARROW(cuda_on_cpu::to_odd(v)); }
#define CUDA_ON_CPU_DIRECTED(suffix, direction)                                            \
  CUDA_ON_CPU_INLINE T JOIN5(__float2, N, suffix, , )(float v) {                           \
    const T nearest = NARROW(v);                                                           \
    return cuda_on_cpu::directed<cuda_on_cpu::Direction::direction, uint16_t>(             \
        nearest, (v > WIDE(nearest)) - (v < WIDE(nearest)));                               \
  }
CUDA_ON_CPU_DIRECTED(_rz, zero)
CUDA_ON_CPU_DIRECTED(_rd, down)
CUDA_ON_CPU_DIRECTED(_ru, up)
#undef CUDA_ON_CPU_DIRECTED

#define CUDA_ON_CPU_WHOLE(name, Whole, suffix, round)                                  \
  CUDA_ON_CPU_INLINE Whole JOIN5(__, N, 2, name, suffix)(T v) {                        \
    return cuda_on_cpu::to_whole<Whole>(round(WIDE(v)));                               \
  }                                                                                    \
  CUDA_ON_CPU_INLINE T JOIN5(__, name, 2, N, suffix)(Whole v) {                        \
    return JOIN5(__float2, N, suffix, , )(cuda_on_cpu::to_odd(v));                     \
  }
#define CUDA_ON_CPU_WHOLE_IN_ALL_DIRECTIONS(name, Whole)   \
  CUDA_ON_CPU_WHOLE(name, Whole, _rn, __builtin_rintf)     \
  CUDA_ON_CPU_WHOLE(name, Whole, _rz, __builtin_truncf)    \
  CUDA_ON_CPU_WHOLE(name, Whole, _rd, __builtin_floorf)    \
  CUDA_ON_CPU_WHOLE(name, Whole, _ru, __builtin_ceilf)
CUDA_ON_CPU_WHOLE_IN_ALL_DIRECTIONS(short, short)
CUDA_ON_CPU_WHOLE_IN_ALL_DIRECTIONS(ushort, unsigned short)
CUDA_ON_CPU_WHOLE_IN_ALL_DIRECTIONS(int, int)
CUDA_ON_CPU_WHOLE_IN_ALL_DIRECTIONS(uint, unsigned)
CUDA_ON_CPU_WHOLE_IN_ALL_DIRECTIONS(ll, long long)
CUDA_ON_CPU_WHOLE_IN_ALL_DIRECTIONS(ull, unsigned long long)
#undef CUDA_ON_CPU_WHOLE_IN_ALL_DIRECTIONS
#undef CUDA_ON_CPU_WHOLE
CUDA_ON_CPU_INLINE signed char JOIN5(__, N, 2char_rz, , )(T v) {
  return cuda_on_cpu::to_whole<signed char>(WIDE(v));
}
CUDA_ON_CPU_INLINE unsigned char JOIN5(__, N, 2uchar_rz, , )(T v) {
  return cuda_on_cpu::to_whole<unsigned char>(WIDE(v));
}

CUDA_ON_CPU_INLINE unsigned short JOIN5(__, N, _as_ushort, , )(T v) {
  return cuda_on_cpu::bit_cast<unsigned short>(v);
}
CUDA_ON_CPU_INLINE short JOIN5(__, N, _as_short, , )(T v) { return cuda_on_cpu::bit_cast<short>(v); }
CUDA_ON_CPU_INLINE T JOIN5(__ushort_as_, N, , , )(unsigned short v) {
  return cuda_on_cpu::bit_cast<T>(v);
}
CUDA_ON_CPU_INLINE T JOIN5(__short_as_, N, , , )(short v) { return cuda_on_cpu::bit_cast<T>(v); }

CUDA_ON_CPU_INLINE P JOIN5(make_, N, 2, , )(T a, T b) { return P(a, b); }
CUDA_ON_CPU_INLINE P JOIN5(__halves2, N, 2, , )(T a, T b) { return P(a, b); }
CUDA_ON_CPU_INLINE P JOIN5(__, N, 2, N, 2)(T a) { return P(a, a); }
CUDA_ON_CPU_INLINE P JOIN5(__float2, N, 2_rn, , )(float v) { return P(NARROW(v), NARROW(v)); }
CUDA_ON_CPU_INLINE P JOIN5(__floats2, N, 2_rn, , )(float a, float b) {
  return P(NARROW(a), NARROW(b));
}
CUDA_ON_CPU_INLINE P JOIN5(__float22, N, 2_rn, , )(float2 v) { return P(NARROW(v.x), NARROW(v.y)); }
CUDA_ON_CPU_INLINE float2 JOIN5(__, N, 22float2, , )(P v) { return {WIDE(v.x), WIDE(v.y)}; }
CUDA_ON_CPU_INLINE T JOIN5(__low2, N, , , )(P v) { return v.x; }
CUDA_ON_CPU_INLINE T JOIN5(__high2, N, , , )(P v) { return v.y; }
CUDA_ON_CPU_INLINE P JOIN5(__low2, N, 2, , )(P v) { return P(v.x, v.x); }
CUDA_ON_CPU_INLINE P JOIN5(__high2, N, 2, , )(P v) { return P(v.y, v.y); }
CUDA_ON_CPU_INLINE P JOIN5(__lows2, N, 2, , )(P a, P b) { return P(a.x, b.x); }
CUDA_ON_CPU_INLINE P JOIN5(__highs2, N, 2, , )(P a, P b) { return P(a.y, b.y); }
CUDA_ON_CPU_INLINE P __lowhigh2highlow(P v) { return P(v.y, v.x); }
CUDA_ON_CPU_INLINE float __low2float(P v) { return WIDE(v.x); }
CUDA_ON_CPU_INLINE float __high2float(P v) { return WIDE(v.y); }

#pragma pop_macro("T")
#pragma pop_macro("P")
#pragma pop_macro("N")
#pragma pop_macro("WIDE")
#pragma pop_macro("NARROW")
#pragma pop_macro("JOIN5")
#pragma pop_macro("JOIN5_")
