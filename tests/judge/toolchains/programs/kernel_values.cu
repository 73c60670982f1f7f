// Kernels as values, declared in every way that C++ and the preprocessor have.
#include <cstdio>
#include <vector>

using Kernel = void (*)(float*, int);
constexpr int n = 128;

__global__ void add_one(float* x, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] += 1;
}
__global__ void twice(float* x, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] *= 2;
}
__global__ void reverse(float* x, int) {
  __shared__ float copy[n];
  copy[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = copy[n - 1 - threadIdx.x];
}
template <class T>
__global__ void add_five(T* x, int count) {
  if (threadIdx.x < count) x[threadIdx.x] += 5;
}
template <class... Terms>
__global__ void add_all(float* x, Terms... terms) {
  if (threadIdx.x == 0) x[0] += (terms + ... + 0);
}

template <Kernel kernel>
void run(float* x) {
  kernel<<<1, n>>>(x, n);
}
template <class Function>
void run_any(Function kernel, float* x) {
  kernel<<<1, n>>>(x, n);
}
void run_one(Kernel twice, float* x) { twice<<<1, n>>>(x, n); }
struct Entry {
  const char* name;
  Kernel kernel;
};
Kernel choose(bool first) { return first ? add_one : twice; }

// Device functions as values
using Operation = float (*)(float);
__device__ float square(float x) { return x * x; }
__device__ float cube(float x) { return x * x * x; }
__device__ Operation operations[] = {square, cube};
__device__ Operation chosen = square;
__global__ void apply(Operation operation, float* x, int which) {
  float& v = x[threadIdx.x];
  v = which < 0 ? operation(v) : operations[which](v);
}
template <Operation operation>
__global__ void apply_known(float* x) {
  x[threadIdx.x] = operation(x[threadIdx.x]);
}
template <class Function>
__global__ void apply_any(Function function, float* x) {
  x[threadIdx.x] = function(x[threadIdx.x]);
}
struct Scale {
  float factor;
  __host__ __device__ float operator()(float x) const { return factor * x; }
};

// Declarations
struct Pair {
  int a, b;
};
__global__ void fill(float* x, Pair p, float2 v = {1, 2}) { x[threadIdx.x] = p.a + p.b + v.x + v.y; }
#define KERNEL __global__ void
KERNEL by_word(float* x) { x[threadIdx.x] = threadIdx.x; }
#define MAKE(name, value)                     \
  __global__ void name##_kernel(float* x) {   \
    float v = x[threadIdx.x];                 \
    x[threadIdx.x] = value;                   \
  }
MAKE(negate, -v)
MAKE(halve, v / 2)
#define BOUNDS(threads) __launch_bounds__(threads)
__global__ void BOUNDS(n > 64 ? n : 64) bounded(float* x) { x[threadIdx.x] = 9; }
#define LAUNCH(kernel, threads, ...)      \
  do {                                    \
    kernel<<<1, threads>>>(__VA_ARGS__);  \
  } while (0)
extern "C" __global__ void with_c_linkage(float* x) { x[threadIdx.x] = 3; }
static __global__ void __launch_bounds__(32 * 4, 2)
spread_out
(
  float *x
)
{ x[threadIdx.x] = 4; }
__global__ static void declared_first(float*, int = 7);
__global__ static void declared_first(float* x, int v) { x[threadIdx.x] = v; }
__global__ void overloaded(float* x) { x[0] = 1; }
__global__ void overloaded(int* x) { x[0] = 2; }
namespace outer {
namespace {
__global__ void hidden(float* x) { x[threadIdx.x] = 11; }
}  // namespace
inline namespace v1 {
__global__ void versioned(float* x) { x[threadIdx.x] = 12; }
}  // namespace v1
}  // namespace outer

static int num_wrong = 0;
static float* x;
static void start() {
  for (int i = 0; i < n; ++i) x[i] = i;
}
static void is(const char* what, float first, float last) {
  cudaDeviceSynchronize();
  if (x[0] == first && x[n - 1] == last) return;
  printf("%s: %g and %g instead of %g and %g\n", what, x[0], x[n - 1], first, last);
  ++num_wrong;
}

static void kernels_as_values() {
  start();
  Kernel table[] = {add_one, twice, &reverse, add_five<float>};
  for (int i = 0; i < 4; ++i) table[i]<<<1, n>>>(x, n);
  is("a table", 261, 7);
  start();
  Entry entry{"add_one", add_one}, *pointer = &entry;
  entry.kernel<<<1, n>>>(x, n);
  pointer->kernel<<<1, n>>>(x, n);
  (*pointer->kernel)<<<1, n>>>(x, n);
  is("a member", 3, 130);
  start();
  choose(true)<<<1, n>>>(x, n);
  (choose)(false)<<<1, n>>>(x, n);
  if (x) (add_one)<<<1, n>>>(x, n);
  is("a call", 3, 257);
  start();
  run<add_one>(x);
  run<reverse>(x);
  run_any(twice, x);
  run_any(add_five<float>, x);
  run_any(reverse, x);
  run_one(add_one, x);
  is("a parameter", 8, 262);
  start();
  Kernel typed = add_five;
  auto deduced = add_one;
  typed<<<1, n>>>(x, n);
  deduced<<<1, n>>>(x, n);
  std::vector<Kernel> all{add_one};
  for (auto twice : all) twice<<<1, n>>>(x, n);
  is("a variable", 7, 134);
  void (*negate)(float*) = negate_kernel;
  negate<<<1, n>>>(x);
  is("a kernel of a macro", -7, -134);
}

static void device_functions_as_values() {
  Operation operation;
  cudaMemcpyFromSymbol(&operation, chosen, sizeof operation);
  start();
  apply<<<1, n>>>(operation, x, -1);
  is("a pointer from the device", 0, 127 * 127);
  start();
  apply<<<1, n>>>(operation, x, 1);
  is("a table on the device", 0, 127 * 127 * 127);
  start();
  apply_known<cube><<<1, n>>>(x);
  is("a template argument", 0, 127 * 127 * 127);
  start();
  float three = 3;
  apply_any<<<1, n>>>([=] __device__(float v) { return v + three; }, x);
  apply_any<<<1, n>>>([=] __host__ __device__(float v) { return v - 1; }, x);
  apply_any<<<1, n>>>(Scale{2}, x);
  is("functors", 4, 258);
}

static void declarations() {
  fill<<<{1, 1}, {n}>>>(x, {1, 2}, make_float2(3, 4));
  is("a braced list", 10, 10);
  fill<<<1, n>>>(x, Pair{1, 2}, {5, 6});
  is("another", 14, 14);
  fill<<<1, n>>>(x, {1, 2});
  is("a default argument", 6, 6);
  by_word<<<1, n>>>(x);
  negate_kernel<<<1, n>>>(x);
  LAUNCH(halve_kernel, n, x);
  is("macros", 0, -63.5);
  bounded<<<1, n>>>(x);
  is("an attribute by a macro", 9, 9);
  with_c_linkage<<<1, n>>>(x);
  is("C linkage", 3, 3);
  spread_out <<< 1 , n
             >>> (x);
  is("many lines", 4, 4);
  declared_first<<<1, n>>>(x);
  is("a prototype", 7, 7);
  overloaded<<<1, 1>>>(x);
  is("an overload", 1, 7);
  overloaded<<<1, 1>>>(reinterpret_cast<int*>(x));
  cudaDeviceSynchronize();
  num_wrong += *reinterpret_cast<int*>(x) != 2;
  LAUNCH(outer::hidden, n, x);
  is("an unnamed namespace", 11, 11);
  outer::versioned<<<1, n>>>(x);
  is("an inline namespace", 12, 12);
  start();
  add_all<<<1, n>>>(x, 1, 2.5);
  add_all<<<1, n>>>(x);
  LAUNCH(add_five<float>, n, x, n);
  is("variadic", 8.5, 132);
}

int main() {
  if (cudaMallocManaged(&x, n * sizeof(float)) != cudaSuccess) return 1;
  kernels_as_values();
  device_functions_as_values();
  declarations();
  if (num_wrong == 0) puts("ok");
  return num_wrong;
}
