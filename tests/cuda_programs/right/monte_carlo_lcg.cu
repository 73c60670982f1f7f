// Pi by throwing darts: each thread jumps to its own part of one sequence of random numbers, so
// that the count is that of a single loop.
#include "../program.cuh"

constexpr unsigned long long kFactor = 6364136223846793005ull, kIncrement = 1442695040888963407ull;

struct Generator {
  unsigned long long state;

  __host__ __device__ unsigned next() {
    state = state * kFactor + kIncrement;
    return (unsigned)(state >> 33);
  }
  // As many steps at once, by squaring the step.
  __host__ __device__ void skip(unsigned long long steps) {
    unsigned long long factor = kFactor, increment = kIncrement;
    for (; steps; steps >>= 1) {
      if (steps & 1) state = state * factor + increment;
      increment *= factor + 1;
      factor *= factor;
    }
  }
};

__host__ __device__ bool hits(Generator& random) {
  const unsigned long long x = random.next() >> 1, y = random.next() >> 1;
  return x * x + y * y < 1ull << 60;
}

__global__ void throw_darts(int per_thread, unsigned long long seed, unsigned* count) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  Generator random = {seed};
  random.skip(2ull * per_thread * thread);
  unsigned own = 0;
  for (int k = 0; k < per_thread; ++k) own += hits(random);
  own = __reduce_add_sync(0xffffffffu, own);
  if (threadIdx.x % 32 == 0) atomicAdd(count, own);
}

int main() {
  const int blocks = 4, threads = 64, per_thread = 40, darts = blocks * threads * per_thread;
  DeviceArray<unsigned> count(std::vector<unsigned>(1, 0u));
  throw_darts<<<blocks, threads>>>(per_thread, 42, count.data());
  Generator random = {42};
  unsigned expected = 0;
  for (int k = 0; k < darts; ++k) expected += hits(random);
  expect_equal("hits", count.values()[0], expected);
  expect_close("pi", 0, 4.0 * expected / darts, 3.14159, 0.02);
  return verdict();
}
