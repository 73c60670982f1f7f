// Every function of half and bfloat16, for bit patterns that the tests choose.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define LAUNCH(kernel, n, ...) kernel<<<((n) + 255) / 256, 256>>>(__VA_ARGS__)

// Functions of one number; `which` counts the cases in the order of the test's table.
template <class T, class Pair>
__global__ void unary_kernel(int which, const T* x, T* out, int n) {
  const int i = THREAD;
  if (i >= n) return;
  const T v = x[i];
  const Pair pair(v, x[n - 1 - i]);
  switch (which) {
    case 0: out[i] = -v; break;
    case 1: out[i] = __habs(v); break;
    case 2: out[i] = hsqrt(v); break;
    case 3: out[i] = hrcp(v); break;
    case 4: out[i] = hfloor(v); break;
    case 5: out[i] = hceil(v); break;
    case 6: out[i] = htrunc(v); break;
    case 7: out[i] = hrint(v); break;
    case 8: out[i] = hexp(v); break;
    case 9: out[i] = hexp2(v); break;
    case 10: out[i] = hexp10(v); break;
    case 11: out[i] = hlog(v); break;
    case 12: out[i] = hlog2(v); break;
    case 13: out[i] = hlog10(v); break;
    case 14: out[i] = hsin(v); break;
    case 15: out[i] = hcos(v); break;
    case 16: out[i] = hrsqrt(v); break;
    case 17: out[i] = htanh(v); break;
    case 18: out[i] = __high2float(h2sqrt(__lowhigh2highlow(pair))); break;
    case 19: out[i] = h2rcp(pair).x; break;
    case 20: out[i] = h2exp(pair).x; break;
    case 21: out[i] = __hneg2(pair).x; break;
    case 22: out[i] = T(__hisnan(v) ? 1.0f : 0.0f); break;
    case 23: out[i] = T((float)(__hisinf(v) * 2)); break;
    case 24: out[i] = __hisnan2(pair).x; break;
    case 25: out[i] = T((float)v); break;
    case 26: out[i] = T((double)(float)v); break;
  }
}
// Functions of three numbers.
template <class T, class Pair>
__global__ void ternary_kernel(int which, const T* x, const T* y, const T* z, T* out, int n) {
  const int i = THREAD;
  if (i >= n) return;
  const T a = x[i], b = y[i], c = z[i];
  const Pair p(a, b), q(b, c), r(c, a);
  const T zero(0.0f), one(1.0f);
  switch (which) {
    case 0: out[i] = a + b; break;
    case 1: out[i] = a - b; break;
    case 2: out[i] = a * b; break;
    case 3: out[i] = a / b; break;
    case 4: out[i] = __hfma(a, b, c); break;
    case 5: out[i] = __hadd_sat(a, b); break;
    case 6: out[i] = __hfma_sat(a, b, c); break;
    case 7: out[i] = __hfma_relu(a, b, c); break;
    case 8: out[i] = __hmax(a, b); break;
    case 9: out[i] = __hmin(a, b); break;
    case 10: out[i] = __hmax_nan(a, b); break;
    case 11: out[i] = __hmin_nan(a, b); break;
    case 12: out[i] = __hadd2(p, q).y; break;           // b + c
    case 13: out[i] = __hmul2_rn(p, q).x; break;        // a * b
    case 14: out[i] = __h2div(p, q).x; break;           // a / b
    case 15: out[i] = __hfma2(p, q, r).x; break;        // a b + c
    case 16: out[i] = __hcmadd(Pair(a, zero), Pair(b, zero), Pair(c, one)).x; break;
    case 17: out[i] = __hmax2_nan(p, q).x; break;
    case 18: out[i] = (p - q).x; break;
    case 19: { T sum = a; sum += b; out[i] = sum; break; }
    case 20: { T product = a; product *= b; out[i] = product; break; }
    case 21: { T v = a; ++v; v--; out[i] = v; break; }
    case 22: out[i] = __hsub_sat(a, b); break;
    case 23: out[i] = __hmul_sat(a, b); break;
    case 24: out[i] = __hfma2_sat(p, q, r).x; break;
  }
}
// One bit for each of the twelve comparisons, of scalars, of operators and of pairs.
template <class T, class Pair>
__global__ void compare_kernel(const T* x, const T* y, int* out, int n) {
  const int i = THREAD;
  if (i >= n) return;
  const T a = x[i], b = y[i];
  const Pair p(a, a), q(b, b);
  out[4 * i] = __hlt(a, b) | __hle(a, b) << 1 | __hgt(a, b) << 2 | __hge(a, b) << 3 |
               __heq(a, b) << 4 | __hne(a, b) << 5 | __hltu(a, b) << 6 | __hleu(a, b) << 7 |
               __hgtu(a, b) << 8 | __hgeu(a, b) << 9 | __hequ(a, b) << 10 | __hneu(a, b) << 11;
  out[4 * i + 1] = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 |
                   (a != b) << 5;
  out[4 * i + 2] = __hblt2(p, q) | __hble2(p, q) << 1 | __hbgt2(p, q) << 2 | __hbge2(p, q) << 3 |
                   __hbeq2(p, q) << 4 | __hbne2(p, q) << 5 | __hbltu2(p, q) << 6 |
                   __hbleu2(p, q) << 7 | __hbgtu2(p, q) << 8 | __hbgeu2(p, q) << 9 |
                   __hbequ2(p, q) << 10 | __hbneu2(p, q) << 11;
  out[4 * i + 3] = (__hlt2_mask(Pair(a, b), Pair(b, a)) == 0xffffu) |
                   (__low2float(__hge2(p, q)) == 1.0f) << 1;
}
#define FUNCTIONS(name, T, Pair)                                                                 \
  extern "C" void name##_unary(int which, const void* x, void* out, int n) {                     \
    LAUNCH((unary_kernel<T, Pair>), n, which, (const T*)x, (T*)out, n);                          \
  }                                                                                              \
  extern "C" void name##_ternary(int which, const void* x, const void* y, const void* z,         \
                                 void* out, int n) {                                             \
    LAUNCH((ternary_kernel<T, Pair>), n, which, (const T*)x, (const T*)y, (const T*)z, (T*)out,  \
           n);                                                                                   \
  }                                                                                              \
  extern "C" void name##_compare(const void* x, const void* y, int* out, int n) {                \
    LAUNCH((compare_kernel<T, Pair>), n, (const T*)x, (const T*)y, out, n);                      \
  }
FUNCTIONS(half, __half, __half2)
FUNCTIONS(bfloat16, __nv_bfloat16, __nv_bfloat162)

// To whole numbers in four directions and by a cast, all as long long.
#define TO_WHOLE(T, name, N, Whole, i)                                                        \
  out[5 * (i)] = (long long)__##N##2##name##_rn(v);                                           \
  out[5 * (i) + 1] = (long long)__##N##2##name##_rz(v);                                       \
  out[5 * (i) + 2] = (long long)__##N##2##name##_rd(v);                                       \
  out[5 * (i) + 3] = (long long)__##N##2##name##_ru(v);                                       \
  out[5 * (i) + 4] = (long long)(Whole)v;
#define TO_WHOLE_KERNELS(T, N)                                                                   \
  __global__ void N##_to_whole_kernel(int which, const T* x, long long* out, int n) {            \
    const int i = THREAD;                                                                        \
    if (i >= n) return;                                                                          \
    const T v = x[i];                                                                            \
    switch (which) {                                                                             \
      case 0: TO_WHOLE(T, short, N, short, i) break;                                             \
      case 1: TO_WHOLE(T, ushort, N, unsigned short, i) break;                                   \
      case 2: TO_WHOLE(T, int, N, int, i) break;                                                 \
      case 3: TO_WHOLE(T, uint, N, unsigned, i) break;                                           \
      case 4: TO_WHOLE(T, ll, N, long long, i) break;                                            \
      case 5: TO_WHOLE(T, ull, N, unsigned long long, i) break;                                  \
      case 6: out[i] = __##N##2char_rz(v); break;                                                \
      case 7: out[i] = __##N##2uchar_rz(v); break;                                               \
      case 8: out[i] = v ? 1 : 0; break;                                                         \
    }                                                                                            \
  }                                                                                              \
  extern "C" void N##_to_whole(int which, const void* x, long long* out, int n) {                \
    LAUNCH(N##_to_whole_kernel, n, which, (const T*)x, out, n);                                  \
  }
TO_WHOLE_KERNELS(__half, half)
TO_WHOLE_KERNELS(__nv_bfloat16, bfloat16)

// From whole numbers and from floats, in four directions, and by constructors.
#define FROM(name, N, V)                                                         \
  out[5 * i] = __##name##2##N##_rn((V)v), out[5 * i + 1] = __##name##2##N##_rz((V)v), \
  out[5 * i + 2] = __##name##2##N##_rd((V)v), out[5 * i + 3] = __##name##2##N##_ru((V)v), \
  out[5 * i + 4] = (V)v
#define FROM_KERNELS(T, N)                                                                     \
  __global__ void N##_from_whole_kernel(int which, const long long* x, T* out, int n) {        \
    const int i = THREAD;                                                                      \
    if (i >= n) return;                                                                        \
    const long long v = x[i];                                                                  \
    switch (which) {                                                                           \
      case 0: FROM(short, N, short); break;                                                    \
      case 1: FROM(ushort, N, unsigned short); break;                                          \
      case 2: FROM(int, N, int); break;                                                        \
      case 3: FROM(uint, N, unsigned); break;                                                  \
      case 4: FROM(ll, N, long long); break;                                                   \
      case 5: FROM(ull, N, unsigned long long); break;                                         \
    }                                                                                          \
  }                                                                                            \
  __global__ void N##_from_real_kernel(const double* x, T* out, int n) {                       \
    const int i = THREAD;                                                                      \
    if (i >= n) return;                                                                        \
    const float v = (float)x[i];                                                               \
    FROM(float, N, float);                                                                     \
    out[5 * i + 4] = __double2##N(x[i]);                                                       \
  }                                                                                            \
  extern "C" void N##_from_whole(int which, const long long* x, void* out, int n) {            \
    LAUNCH(N##_from_whole_kernel, n, which, x, (T*)out, n);                                    \
  }                                                                                            \
  extern "C" void N##_from_real(const double* x, void* out, int n) {                           \
    LAUNCH(N##_from_real_kernel, n, x, (T*)out, n);                                            \
  }
FROM_KERNELS(__half, half)
FROM_KERNELS(__nv_bfloat16, bfloat16)

// Pairs taken apart and put together, bits, hints, shuffles, atomics: numbers for the test's list.
#define PAIRS(T, P, N, raw_pair)                                                                   \
  __global__ void N##_pairs_kernel(T* x, P* y, float* out) {                                       \
    __shared__ T sum;                                                                              \
    __shared__ P sums;                                                                             \
    const T a = __float2##N(1.5f), b(2.25f);                                                       \
    const P p = __halves2##N##2(a, b), q = __floats2##N##2_rn(4.0f, 8.0f);                         \
    const float2 wide = __##N##22float2(__float22##N##2_rn(make_float2(0.5f, 3.0f)));              \
    const P list[] = {p, q, __low2##N##2(p), __high2##N##2(p), __lows2##N##2(p, q),                \
                      __highs2##N##2(p, q), __lowhigh2highlow(p), __##N##2##N##2(b),               \
                      __float2##N##2_rn(7.0f), make_##N##2(b, a), P(q), {a, a},                    \
                      __ldg(y), __ldcs(y + 1), __hmax2(p, q), __hmin2(p, q)};                      \
    const int t = threadIdx.x;                                                                     \
    if (t < 16) out[2 * t] = __low2float(list[t]), out[2 * t + 1] = __high2float(list[t]);         \
    if (t == 16) out[32] = wide.x, out[33] = wide.y, out[34] = __##N##2float(__low2##N(p)),        \
                 out[35] = __high2##N(p);                                                          \
    if (t == 17) out[36] = __##N##_as_ushort(a), out[37] = __##N##_as_short(-a),                   \
                 out[38] = __ushort_as_##N(__##N##_as_ushort(b)), out[39] = __short_as_##N(0);     \
    if (t == 0) sum = T(0.0f), sums = P(a, b);                                                     \
    __syncthreads();                                                                               \
    atomicAdd(&sum, T(0.5f));                                                                      \
    atomicAdd(&sums, P(T(0.25f), T(1.0f)));                                                        \
    __syncthreads();                                                                               \
    const T moved = __shfl_xor_sync(0xffffffffu, T((float)t), 1);                                  \
    const P both = __shfl_down_sync(0xffffffffu, P(T((float)t), T(1.0f)), 4);                      \
    if (t == 3) out[40] = sum, out[41] = __low2float(sums), out[42] = __high2float(sums),          \
                out[43] = moved, out[44] = __low2float(both);                                      \
    if (t == 4) __stcg(x, a), __stwt(y + 2, p);                                                    \
    __syncthreads();                                                                               \
    if (t == 5) out[45] = *x, out[46] = __high2float(y[2]);                                        \
    if (t == 6) {                                                                                  \
      P v = p;                                                                                     \
      v += q, v *= P(b, b);                                                                        \
      out[47] = v.x, out[48] = v.y, out[49] = v == v, out[50] = v > p, out[51] = v < p;            \
    }                                                                                              \
  }                                                                                                \
  extern "C" void N##_pairs(void* x, void* y, float* out) {                                        \
    N##_pairs_kernel<<<1, 32>>>((T*)x, (P*)y, out);                                                \
  }
PAIRS(__half, __half2, half, __half2_raw)
PAIRS(__nv_bfloat16, __nv_bfloat162, bfloat16, __nv_bfloat162_raw)

// From one to the other, and constants.
__global__ void mixed_kernel(float* out) {
  const __half h(3.140625f);
  const __nv_bfloat16 b(3.140625f);
  out[0] = (float)__half(b);
  out[1] = (float)__nv_bfloat16(h);
  out[2] = (float)CUDART_INF_FP16;
  out[3] = (float)CUDART_MAX_NORMAL_FP16;
  out[4] = (float)CUDART_ONE_BF16;
  __half_raw raw;
  raw.x = 0x3c00;
  out[5] = (float)__half(raw);
  nv_half same = h;
  nv_bfloat16 other = b;
  out[6] = (float)same + (float)other;
}
extern "C" void mixed(float* out) { mixed_kernel<<<1, 1>>>(out); }
