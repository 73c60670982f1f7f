// Kernel templates: default, non-type, template and variadic parameters, and specialisations.
#include "../program.cuh"

template <class T>
struct Add {
  static __device__ T identity() { return T(0); }
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct Multiply {
  static __device__ T identity() { return T(1); }
  __device__ T operator()(T a, T b) const { return a * b; }
};

template <class T, template <class> class Operation = Add, int Threads = 64>
__global__ void fold(const T* x, int n, T* out) {
  __shared__ T partial[Threads];
  const Operation<T> combine;
  T value = Operation<T>::identity();
  for (int i = threadIdx.x; i < n; i += Threads) value = combine(value, x[i]);
  partial[threadIdx.x] = value;
  for (int stride = Threads / 2; stride; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride)
      partial[threadIdx.x] = combine(partial[threadIdx.x], partial[threadIdx.x + stride]);
  }
  if (threadIdx.x == 0) *out = partial[0];
}

template <class... Pointers>
__global__ void sum_of_arrays(int n, double* out, const Pointers*... arrays) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (... + (double)arrays[i]);
}

template <int Width, bool Mirrored>
__global__ void tag(int* out) {
  const int place = Mirrored ? Width - 1 - (int)threadIdx.x : (int)threadIdx.x;
  if constexpr (Width > 8)
    out[threadIdx.x] = place * 10;
  else
    out[threadIdx.x] = place;
}
template <>
__global__ void tag<1, false>(int* out) {
  *out = -1;
}

int main() {
  const int n = 100;
  const std::vector<int> x = random_ints(n, -3, 3);
  std::vector<double> powers(n, 1.0), sums(n);
  powers[3] = powers[77] = -2.5;
  long sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += x[i];
    sums[i] = x[i] + powers[i] + (float)x[i];
  }
  const std::vector<float> floats(x.begin(), x.end());
  DeviceArray<int> device_x(x), total(1), tags(16);
  DeviceArray<double> device_powers(powers), product(1), out(n);
  DeviceArray<float> device_floats(floats);
  fold<<<1, 64>>>(device_x.data(), n, total.data());
  fold<double, Multiply, 32><<<1, 32>>>(device_powers.data(), n, product.data());
  sum_of_arrays<<<2, 64>>>(n, out.data(), device_x.data(), device_powers.data(),
                           device_floats.data());
  expect_equal("sum", (long)total.values()[0], sum);
  expect_equal("product", product.values()[0], 6.25);
  expect_equal("sums", out.values(), sums);
  tag<16, true><<<1, 16>>>(tags.data());
  tag<4, false><<<1, 4>>>(tags.data());
  tag<1, false><<<1, 1>>>(tags.data());
  std::vector<int> expected(16);
  for (int i = 0; i < 16; ++i) expected[i] = i == 0 ? -1 : i < 4 ? i : (15 - i) * 10;
  expect_equal("tags", tags.values(), expected);
  return verdict();
}
