// A kernel and its launch in a header, as libraries have them.
#pragma once

#include "complex.cuh"

template <class T>
__global__ void fill_kernel(T* x, int n, T value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

template <class T>
void fill(T* x, int n, T value) {
  fill_kernel<<<(n + 127) / 128, 128>>>(x, n, value);
}
