// A program of several files: device variables of every kind, C++ on the device, launches everywhere.
#include <cstdio>
#include <functional>
#include <thread>
#include <utility>

#include "elsewhere.h"
#include "in_header.cuh"

static __device__ int same_name = 2;
__global__ void same_kernel(int* x) { *x = same_name; }

namespace limits {
__constant__ int three[3] = {1, 2, 3};
namespace deep {
__device__ float grid[2][2] = {{1, 2}, {3, 4}};
}
}  // namespace limits
__device__ __managed__ int seen_by_both[4] = {1, 1, 1, 1};
__managed__ __device__ float also_seen;
__device__ volatile int flag;
__device__ const int table[] = {7, 8, 9};
__device__ constexpr int five = 5;
static const __device__ int six = 6;
__shared__ int shared_in_file[32];
extern __shared__ float dynamic[];
__global__ void use_variables(int* out) {
  static __shared__ int a;
  __shared__ volatile int b;
  if (threadIdx.x == 0) {
    a = limits::three[2];
    b = table[1];
    flag = 3;
    seen_by_both[2] = 9;
    also_seen = 1.5f;
    shared_in_file[3] = 4;
  }
  dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x != 31) return;
  out[0] = a + b + flag + five + six;                              // 25
  out[1] = (int)limits::deep::grid[1][1] + shared_in_file[3];      // 8
  out[2] = (int)dynamic[30] + plus_across(1) + across;             // 111
  out[3] = (int)(scale_across * 2);                                // 5
}

__host__ __device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ int fibonacci(int n) {
  if (n < 2) return n;
  return fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recurse(int* x) {
  x[0] = factorial(5);
  x[1] = fibonacci(10);
}

struct Shape {
  __device__ virtual int sides() { return 1; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  __device__ int sides() override { return 4; }
};
__global__ void use_objects(int* x) {
  Square square;
  Shape* shape = &square;
  x[0] = shape->sides();
  shape = new Square;
  x[1] = shape->sides();
  delete shape;
  int* word = static_cast<int*>(malloc(sizeof(int)));
  *word = 3;
  x[2] = *word;
  free(word);
}
class Secret {
 public:
  __host__ __device__ explicit Secret(int value) : value(value) {}
  friend __global__ void reveal(Secret, int*);

 private:
  int value;
};
__global__ void reveal(Secret secret, int* x) { *x = secret.value; }

typedef struct {
  int a;
} Plain;
__global__ void
long_list(int *a,
          const Plain plain, /* a, comment <<< */
          int (*unused)[4],
          int n // another )
          )
{
  *a = plain.a + n;
}
enum class Color { red, green };
template <Color color, bool flag>
__global__ void by_value(int* x) {
  *x = (int)color * 10 + flag;
}
template <int N>
struct Repeat {
  static void run(int* x) {
    same_kernel<<<1, N>>>(x);
    Repeat<N - 1>::run(x);
  }
};
template <>
struct Repeat<0> {
  static void run(int*) {}
};
__global__ void count(int* x) { atomicAdd(x, 1); }

static int num_wrong = 0;
#define CHECKED(...)                                                            \
  do {                                                                          \
    __VA_ARGS__;                                                                \
    num_wrong += cudaGetLastError() != cudaSuccess;                             \
  } while (0)
#define IS(place, expected)                                                     \
  do {                                                                          \
    cudaDeviceSynchronize();                                                    \
    if ((place) != (expected)) {                                                \
      printf("line %d: %g\n", __LINE__, (double)(place));                       \
      ++num_wrong;                                                              \
    }                                                                           \
  } while (0)

static void device_code(int* x) {
  use_variables<<<1, 32, 32 * sizeof(float)>>>(x);
  IS(x[0], 25);
  IS(x[1], 8);
  IS(x[2], 111);
  IS(x[3], 5);
  IS(seen_by_both[2], 9);
  IS(also_seen, 1.5f);
  same_kernel<<<1, 1>>>(x);
  IS(x[0], 2);
  launch_elsewhere(x);
  IS(x[0], 1);
  recurse<<<1, 1>>>(x);
  IS(x[0] + factorial(4), 144);
  IS(x[1], 55);
  use_objects<<<1, 1>>>(x);
  IS(x[0] * 100 + x[1] * 10 + x[2], 443);
  reveal<<<1, 1>>>(Secret(8), x);
  IS(*x, 8);
  Plain plain = {4};
  long_list<<<1, 1>>>(x, plain, NULL, 3);
  IS(*x, 7);
}

static void templates(int* x) {
  CHECKED(by_value<Color::green, (3 > 2)><<<1, 1>>>(x));
  IS(*x, 11);
  CHECKED(by_value<Color::red, true><<<dim3(1, 1), dim3{1}>>>(x));
  IS(*x, 1);
  for (int i = 0; i < 64; ++i) x[i] = i;
  Launcher<int>{64}(x);
  IS(x[0], 12);
  IS(x[63], 75);
  double* doubles = reinterpret_cast<double*>(x);
  for (int i = 0; i < 64; ++i) doubles[i] = 1;
  sum_block<double><<<1, 64, 64 * sizeof(double)>>>(doubles);
  IS(doubles[0], 64.0);
  float* floats = reinterpret_cast<float*>(x);
  for (int i = 0; i < 64; ++i) floats[i] = 1;
  sum_block<<<1, 64, 64 * sizeof(float)>>>(floats);
  IS(floats[0], 64.0f);
  int factor = 3;
  parallel_for(200, [=] __device__(int i) { x[i] = i * factor; });
  IS(x[199], 597);
  Repeat<3>::run(x);
  IS(*x, 2);
}

static void places_of_launches(int* x) {
  *x = 0;
  count<<<dim3(2, 3, 4), dim3(2, 2, 2)>>>(x);
  IS(*x, 192);
  std::function<void()> later = [&] { count<<<1, 1>>>(x); };
  later();
  IS(*x, 193);
  std::thread thread([&] { count<<<1, 1>>>(x); });
  thread.join();
  IS(*x, 194);
  bool yes = *x > 0;
  yes ? count<<<1, 1>>>(x) : (void)0;
  IS(*x, 195);
  if (yes) count<<<1, 2>>>(x); else count<<<1, 3>>>(x);
  IS(*x, 197);
  for (int i = 0; i < 3; i++) count<<<1, 1>>>(x);
  IS(*x, 200);
  auto [grid, block] = std::pair<int, int>(2, 2);
  count<<<grid, block>>>(x);
  IS(*x, 204);
  size_t many = 4;
  long one = 1;
  count<<<many, one>>>(x);
  IS(*x, 208);
  count<<<(int)(4.0 / 2), 1u << 1, 0, 0>>>(x);
  IS(*x, 212);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  count<<<1, 1, sizeof(int) * (8 >> 1), stream>>>(x);
  IS(*x, 213);
  cudaStreamDestroy(stream);
}

int main() {
  int* x;
  if (cudaMallocManaged(&x, 1024) != cudaSuccess) return 1;
  device_code(x);
  templates(x);
  places_of_launches(x);
  if (num_wrong == 0) puts("ok");
  return num_wrong;
}
