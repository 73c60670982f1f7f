// Complex numbers for host and device, for the programs that include them.
#pragma once

struct Complex {
  float re, im;
};

__host__ __device__ inline Complex operator+(Complex a, Complex b) {
  return {a.re + b.re, a.im + b.im};
}
__host__ __device__ inline Complex operator-(Complex a, Complex b) {
  return {a.re - b.re, a.im - b.im};
}
__host__ __device__ inline Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__host__ __device__ inline float norm(Complex z) { return z.re * z.re + z.im * z.im; }
