// Functors as arguments of kernels, and lambdas inside of kernels that capture by value and by
// reference.
#include "../program.cuh"

struct Line {
  float slope, offset;
  __host__ __device__ float operator()(float x) const { return slope * x + offset; }
};

template <class F, class G>
struct Composed {
  F outer;
  G inner;
  __host__ __device__ auto operator()(float x) const { return outer(inner(x)); }
};

struct Clamp {
  float low, high;
  __host__ __device__ float operator()(float x) const {
    return x < low ? low : x > high ? high : x;
  }
};

template <class Function>
__global__ void transform(const float* x, float* out, int n, Function function) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = function(x[i]);
}

__global__ void count_sign_changes(const float* x, int n, int* out) {
  __shared__ int total;
  auto each = [n](auto body) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) body(i);
  };
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  int own = 0;
  each([&](int i) { own += i > 0 && (x[i] < 0) != (x[i - 1] < 0); });
  atomicAdd(&total, own);
  __syncthreads();
  if (threadIdx.x == 0) *out = total;
}

int main() {
  const int n = 1000;
  const std::vector<float> x = random_floats(n);
  const Composed<Clamp, Line> function = {{-0.5f, 1.0f}, {2.0f, 0.25f}};
  std::vector<float> expected(n);
  int changes = 0;
  for (int i = 0; i < n; ++i) {
    expected[i] = function(x[i]);
    changes += i && (x[i] < 0) != (x[i - 1] < 0);
  }
  DeviceArray<float> device_x(x), out(n);
  DeviceArray<int> count(1);
  transform<<<8, 128>>>(device_x.data(), out.data(), n, function);
  expect_close("transformed", out.values(), expected, 1e-6);
  transform<<<8, 128>>>(device_x.data(), out.data(), n, Line{-1.0f, 0.0f});
  for (int i = 0; i < n; ++i) expected[i] = -x[i];
  expect_equal("negated", out.values(), expected);
  count_sign_changes<<<1, 96>>>(device_x.data(), n, count.data());
  expect_equal("changes", count.values()[0], changes);
  return verdict();
}
