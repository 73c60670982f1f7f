// Functions of single and double precision against the host's, in the precision of doubles.
#include "../program.cuh"

#define FUNCTIONS(F)                                   \
  F(exp, expf(x), exp(x))                              \
  F(log, logf(x), log(x))                              \
  F(sin, sinf(x), sin(x))                              \
  F(cos, cosf(x), cos(x))                              \
  F(tanh, tanhf(x), tanh(x))                           \
  F(erf, erff(x), erf(x))                              \
  F(cbrt, cbrtf(x), cbrt(x))                           \
  F(atan2, atan2f(x, 3.0f), atan2(x, 3.0))             \
  F(pow, powf(x, 1.7f), pow(x, 1.7))                   \
  F(hypot, hypotf(x, 2.0f), hypot(x, 2.0))             \
  F(fmod, fmodf(x, 0.7f), fmod(x, 0.7))                \
  F(lgamma, lgammaf(x), lgamma(x))                     \
  F(log1p, log1pf(x), log1p(x))                        \
  F(expm1, expm1f(x), expm1(x))                        \
  F(asinh, asinhf(x), asinh(x))                        \
  F(erfc, erfcf(x), erfc(x))                           \
  F(remainder, remainderf(x, 0.5f), remainder(x, 0.5))

#define KERNEL(name, of_float, of_double)                                               \
  __global__ void name##_kernel(const double* in, double* wide, float* narrow, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                \
    if (i >= n) return;                                                                 \
    {                                                                                   \
      const double x = in[i];                                                           \
      wide[i] = of_double;                                                              \
    }                                                                                   \
    {                                                                                   \
      const float x = (float)in[i];                                                     \
      narrow[i] = of_float;                                                             \
    }                                                                                   \
  }
FUNCTIONS(KERNEL)

__global__ void only_on_the_device(const double* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = in[i];
  double s, c;
  sincos(x, &s, &c);
  out[i] = s * s + c * c + rsqrt(x) * sqrt(x) + normcdf(x) + normcdf(-x) + exp10(x) / pow(10.0, x) +
           rcbrt(x) * cbrt(x) + sinpi(x) - sin(x * 3.141592653589793) + __powf(2.0f, 3.0f) +
           __fdividef(1.0f, 4.0f) + fdim(x, x + 1) + erfinv(0.0);
}

int main() {
  const int n = 300;
  std::vector<double> points(n);
  // Multiples of 1/256 that are not near a multiple of what fmod and remainder divide by.
  for (int i = 0; i < n; ++i) points[i] = (i % 7 + 1) + ((i * 37) % 100 + 3) / 256.0;
  DeviceArray<double> device(points), wide(n), out(n);
  DeviceArray<float> narrow(n);
#define COMPARE(name, of_float, of_double)                                   \
  {                                                                          \
    name##_kernel<<<3, 128>>>(device.data(), wide.data(), narrow.data(), n); \
    std::vector<double> expected(n);                                         \
    std::vector<float> expected_narrow(n);                                   \
    for (int i = 0; i < n; ++i) {                                            \
      const double x = points[i];                                            \
      expected[i] = of_double;                                               \
      expected_narrow[i] = (float)expected[i];                               \
    }                                                                        \
    expect_close(#name, wide.values(), expected, 1e-13);                     \
    expect_close(#name "f", narrow.values(), expected_narrow, 4e-6);         \
  }
  FUNCTIONS(COMPARE)
  only_on_the_device<<<3, 128>>>(device.data(), out.data(), n);
  expect_close("identities", out.values(), std::vector<double>(n, 1 + 1 + 1 + 1 + 1 + 8 + 0.25),
               1e-6);
  return verdict();
}
