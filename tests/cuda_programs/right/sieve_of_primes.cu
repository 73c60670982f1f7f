// The sieve of Eratosthenes in segments: bits in shared memory, set with atomicOr.
#include "../program.cuh"

constexpr int kSegment = 2048;  // numbers a block

__global__ void sieve(const int* small_primes, int num_small, unsigned* words, int* counts) {
  __shared__ unsigned composite[kSegment / 32];
  const int first = blockIdx.x * kSegment;
  for (int w = threadIdx.x; w < kSegment / 32; w += blockDim.x)
    composite[w] = w || blockIdx.x ? 0u : 3u;
  __syncthreads();
  for (int k = threadIdx.x; k < num_small; k += blockDim.x) {
    const int prime = small_primes[k];
    const int from = max(prime * prime, (first + prime - 1) / prime * prime);
    for (int multiple = from; multiple < first + kSegment; multiple += prime)
      atomicOr(&composite[(multiple - first) / 32], 1u << (multiple - first) % 32);
  }
  __syncthreads();
  int own = 0;
  for (int w = threadIdx.x; w < kSegment / 32; w += blockDim.x) {
    words[blockIdx.x * (kSegment / 32) + w] = ~composite[w];
    own += __popc(~composite[w]);
  }
  atomicAdd(&counts[blockIdx.x], own);
}

int main() {
  const int blocks = 5, limit = blocks * kSegment;
  std::vector<char> is_prime(limit, 1);
  is_prime[0] = is_prime[1] = 0;
  std::vector<int> small_primes, expected(blocks, 0);
  for (int p = 2; p < limit; ++p) {
    if (!is_prime[p]) continue;
    if (p * p < limit) small_primes.push_back(p);
    for (int multiple = 2 * p; multiple < limit; multiple += p) is_prime[multiple] = 0;
    ++expected[p / kSegment];
  }
  DeviceArray<int> device_primes(small_primes), counts(std::vector<int>(blocks, 0));
  DeviceArray<unsigned> words(limit / 32);
  sieve<<<blocks, 64>>>(device_primes.data(), (int)small_primes.size(), words.data(),
                        counts.data());
  expect_equal("counts", counts.values(), expected);
  const std::vector<unsigned> bits = words.values();
  for (int i = 0; i < limit; ++i)
    expect_equal("prime", (int)(bits[i / 32] >> i % 32 & 1), (int)is_prime[i]);
  return verdict();
}
