// Mathematical functions, directions of rounding and conversions.
#include <cuda_runtime.h>

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// Functions of one double, in the order of the test's table; the forms for float beside them.
#define FUNCTIONS(F)                                                                              \
  F(0, rsqrt(v), rsqrtf(w)) F(1, rcbrt(v), rcbrtf(w)) F(2, erfinv(v), erfinvf(w))                 \
  F(3, erfcinv(v), erfcinvf(w)) F(4, erfcx(v), erfcxf(w)) F(5, normcdf(v), normcdff(w))           \
  F(6, normcdfinv(v), normcdfinvf(w)) F(7, cyl_bessel_i0(v), cyl_bessel_i0f(w))                   \
  F(8, cyl_bessel_i1(v), cyl_bessel_i1f(w)) F(9, sinpi(v), sinpif(w)) F(10, cospi(v), cospif(w))  \
  F(11, exp10(v), exp10f(w)) F(12, j0(v), j0f(w)) F(13, j1(v), j1f(w)) F(14, y0(v), y0f(w))       \
  F(15, tgamma(v), tgammaf(w)) F(16, lgamma(v), lgammaf(w)) F(17, erfc(v), erfcf(w))              \
  F(18, rhypot(v, 2.0), rhypotf(w, 2.0f)) F(19, norm3d(v, 2.0, 3.0), norm3df(w, 2.0f, 3.0f))      \
  F(20, rnorm4d(v, 1.0, 2.0, 3.0), rnorm4df(w, 1.0f, 2.0f, 3.0f))                                 \
  F(21, cbrt(v), cbrtf(w)) F(22, asinh(v), asinhf(w)) F(23, atan2(v, 2.0), atan2f(w, 2.0f))       \
  F(24, logb(v), logbf(w)) F(25, fdim(v, 1.0), fdimf(w, 1.0f)) F(26, expm1(v), expm1f(w))         \
  F(27, norm4d(v, 1.0, 2.0, 3.0), norm4df(w, 1.0f, 2.0f, 3.0f))                                   \
  F(28, rnorm3d(v, 2.0, 3.0), rnorm3df(w, 2.0f, 3.0f)) F(29, jn(2, v), jnf(2, w))                 \
  F(30, nextafter(v, 9.0), nextafterf(w, 9.0f)) F(31, remainder(v, 0.7), remainderf(w, 0.7f))
__global__ void functions_kernel(int which, const double* x, double* y, float* z, int n) {
  const int i = THREAD;
  if (i >= n) return;
  const double v = x[i];
  const float w = (float)v;
  switch (which) {
#define CASE(number, of_double, of_float) \
  case number: y[i] = of_double, z[i] = of_float; break;
    FUNCTIONS(CASE)
  }
}
extern "C" void functions(int which, const double* x, double* y, float* z, int n) {
  functions_kernel<<<(n + 127) / 128, 128>>>(which, x, y, z, n);
}

// Each operation in its four directions: nearest, zero, down, up.
#define FOUR(name, ...) \
  { name##_rn(__VA_ARGS__), name##_rz(__VA_ARGS__), name##_rd(__VA_ARGS__), name##_ru(__VA_ARGS__) }
__global__ void rounded_floats_kernel(const float* x, const float* y, const float* z, float* out,
                                      int n) {
  const int i = THREAD;
  if (i >= n) return;
  const float a = x[i], b = y[i], c = z[i];
  const float all[7][4] = {FOUR(__fadd, a, b), FOUR(__fsub, a, b),     FOUR(__fmul, a, b),
                           FOUR(__fdiv, a, b), FOUR(__fmaf, a, b, c), FOUR(__frcp, a),
                           FOUR(__fsqrt, a)};
  for (int k = 0; k < 28; ++k) out[28 * i + k] = all[k / 4][k % 4];
}
extern "C" void rounded_floats(const float* x, const float* y, const float* z, float* out, int n) {
  rounded_floats_kernel<<<(n + 127) / 128, 128>>>(x, y, z, out, n);
}
__global__ void rounded_doubles_kernel(const double* x, const double* y, const double* z,
                                       double* out, int n) {
  const int i = THREAD;
  if (i >= n) return;
  const double a = x[i], b = y[i], c = z[i];
  const double all[7][4] = {FOUR(__dadd, a, b), FOUR(__dsub, a, b),    FOUR(__dmul, a, b),
                            FOUR(__ddiv, a, b), FOUR(__fma, a, b, c), FOUR(__drcp, a),
                            FOUR(__dsqrt, a)};
  for (int k = 0; k < 28; ++k) out[28 * i + k] = all[k / 4][k % 4];
}
extern "C" void rounded_doubles(const double* x, const double* y, const double* z, double* out,
                                int n) {
  rounded_doubles_kernel<<<(n + 127) / 128, 128>>>(x, y, z, out, n);
}
// The product of the first and the sum of the second are never fused.
__global__ void unfused_kernel(const float* x, float* out, int n) {
  const int i = THREAD;
  if (i < n) out[2 * i] = __fmul_rn(x[i], x[i]) - 1.0f, out[2 * i + 1] = __fadd_rn(x[i] * x[i], -1.0f);
}
extern "C" void unfused(const float* x, float* out, int n) {
  unfused_kernel<<<(n + 127) / 128, 128>>>(x, out, n);
}

__global__ void conversions_kernel(const double* x, const long long* w, float* f, double* d,
                                   long long* out, int n) {
  const int i = THREAD;
  if (i >= n) return;
  const float narrow[6][4] = {FOUR(__double2float, x[i]),         FOUR(__int2float, (int)w[i]),
                              FOUR(__uint2float, (unsigned)w[i]), FOUR(__ll2float, w[i]),
                              FOUR(__ull2float, (unsigned long long)w[i]),
                              {(float)x[i], 0, 0, 0}};
  const double wide[2][4] = {FOUR(__ll2double, w[i]), FOUR(__ull2double, (unsigned long long)w[i])};
  const float v = (float)x[i];
  const long long whole[8][4] = {
      FOUR(__float2int, v),      FOUR(__double2int, x[i]),
      FOUR((long long)__float2uint, v), FOUR((long long)__double2uint, x[i]),
      FOUR(__float2ll, v),       FOUR(__double2ll, x[i]),
      FOUR((long long)__float2ull, v), FOUR((long long)__double2ull, x[i])};
  for (int k = 0; k < 24; ++k) f[24 * i + k] = narrow[k / 4][k % 4];
  for (int k = 0; k < 8; ++k) d[8 * i + k] = wide[k / 4][k % 4];
  for (int k = 0; k < 32; ++k) out[32 * i + k] = whole[k / 4][k % 4];
}
extern "C" void conversions(const double* x, const long long* w, float* f, double* d,
                            long long* out, int n) {
  conversions_kernel<<<(n + 127) / 128, 128>>>(x, w, f, d, out, n);
}

// Single values, as double.
__global__ void facts_kernel(double* out) {
  float s, c, whole;
  double sine, cosine, part;
  int exponent, quotient;
  const float list[3] = {2.0f, 3.0f, 6.0f};
  int k = 0;
  sincospif(0.5f, &s, &c);
  out[k++] = s + 10 * c;
  sincospi(1.0, &sine, &cosine);
  out[k++] = sine + 10 * cosine;
  sincosf(0.0f, &s, &c);
  out[k++] = s + 10 * c;
  __sincosf(0.0f, &s, &c);
  out[k++] = s + 10 * c;
  out[k] = frexp(12.0, &exponent);
  out[k++] += exponent;
  out[k++] = ldexpf(0.75f, 4) + scalbn(1.5, 3) + scalblnf(1.0f, 2L);
  out[k] = modff(3.75f, &whole) + modf(-1.5, &part);
  out[k++] += 10 * whole + part;
  out[k] = remquof(7.0f, 2.0f, &quotient);
  out[k++] += 10 * quotient;
  out[k++] = normf(3, list) + 100 * rnormf(3, list);
  out[k++] = fmaf(2.0f, 3.0f, 4.0f) + fma(2.0, 3.0, 4.0) + ilogb(9.0) + ilogbf(0.3f);
  out[k++] = copysignf(3.0f, -0.0f) + copysign(1.0, 2.0);
  out[k++] = isnan(0.0f / 0.0f) + 10 * isinf(INFINITY) + 100 * isfinite(1.0f) + 1000 * signbit(-1.0);
  out[k++] = __saturatef(2.5f) + __saturatef(-1.0f) + __saturatef(0.25f);
  out[k++] = fdividef(1.0f, 4.0f) + __fdividef(1.0f, 4.0f) + __frsqrt_rn(16.0f);
  out[k++] = lrintf(2.5f) + llrint(3.5) * 10 + lroundf(2.5f) * 100 + llround(-2.5) * 1000;
  out[k++] = nearbyintf(2.5f) + rint(3.5) + roundf(2.5f) + trunc(-2.7);
  out[k++] = max(3, 4u) + min(-1, 2) + max(2.5f, 1.0) + min(7ull, 9ull) + max(-3ll, -4ll);
  out[k++] = abs(-3) + abs(-2.5f) + labs(-4l) + llabs(-5ll) + fabs(-1.5) + abs(-7ll);
  out[k++] = umin(3u, 4u) + umax(3u, 4u) + llmin(-1, 1) + ullmax(5, 6);
  out[k++] = powf(2.0f, 3.0f) + pow(2.0, 3) + powf(2.0f, -1) + __powf(2.0f, 2.0f) + exp2(3.0);
  out[k++] = std::sqrt(16.0f) + std::abs(-2.0f) + std::pow(3.0f, 2) + std::exp(0.0);
  out[k++] = rsqrt(4.0f) + rcbrt(8.0f) + normcdf(0.0f) + erfinv(0.0f) + j0(0.0f) + exp10(1.0f);
}
extern "C" void facts(double* out) { facts_kernel<<<1, 1>>>(out); }
