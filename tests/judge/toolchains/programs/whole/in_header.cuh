// Kernels, launches and dynamic shared memory in templates of a header.
#pragma once

template <class T, int N = 4>
__global__ void __launch_bounds__(N * 32 < 64 ? 64 : N * 32, 1)
reverse_and_add(T* __restrict__ x, const int n) {
  extern __shared__ __align__(sizeof(T)) unsigned char raw[];
  T* copy = reinterpret_cast<T*>(raw);
  copy[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) x[threadIdx.x] = copy[n - 1 - threadIdx.x] + T(N);
}

template <class T>
struct Launcher {
  int n;
  void operator()(T* x) const {
    reverse_and_add<T><<<1, n, n * sizeof(T)>>>(x, n);
    reverse_and_add<T, 8><<<1, n, n * sizeof(T)>>>(x, n);
  }
};

template <class T>
struct SharedMemory {
  __device__ operator T*() {
    extern __shared__ int words[];
    return reinterpret_cast<T*>(words);
  }
};
template <>
struct SharedMemory<double> {
  __device__ operator double*() {
    extern __shared__ double doubles[];
    return doubles;
  }
};
template <class T>
__global__ void sum_block(T* x) {
  T* part = SharedMemory<T>();
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) x[0] = part[0];
}

template <class Function>
__global__ void for_each(int n, Function function) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) function(i);
}
template <class Function>
void parallel_for(int n, Function function) {
  for_each<<<(n + 63) / 64, 64>>>(n, function);
  cudaDeviceSynchronize();
}
