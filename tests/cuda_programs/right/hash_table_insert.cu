// Open addressing with atomicCAS: counts how often each word of a long list occurs.
#include "../program.cuh"

constexpr unsigned kCapacity = 512, kEmpty = 0xffffffffu;

__device__ unsigned place_of(unsigned key) {
  key ^= key >> 16;
  key *= 0x7feb352du;
  key ^= key >> 15;
  return key % kCapacity;
}

__global__ void count_keys(const unsigned* keys, int n, unsigned* table, unsigned* counts) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned key = keys[i];
    for (unsigned slot = place_of(key);; slot = (slot + 1) % kCapacity) {
      const unsigned found = atomicCAS(&table[slot], kEmpty, key);
      if (found == kEmpty || found == key) {
        atomicAdd(&counts[slot], 1u);
        break;
      }
    }
  }
}

__global__ void look_up(const unsigned* wanted, int n, const unsigned* table,
                        const unsigned* counts, unsigned* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = place_of(wanted[i]);
  while (table[slot] != kEmpty && table[slot] != wanted[i]) slot = (slot + 1) % kCapacity;
  out[i] = table[slot] == kEmpty ? 0 : counts[slot];
}

int main() {
  const int n = 3000, kinds = 300;
  const std::vector<int> picks = random_ints(n, 0, kinds - 1);
  std::vector<unsigned> keys(n), wanted(kinds + 20), expected(kinds + 20, 0);
  for (size_t k = 0; k < wanted.size(); ++k) wanted[k] = (unsigned)k * 2654435761u;
  for (int i = 0; i < n; ++i) {
    keys[i] = wanted[picks[i]];
    ++expected[picks[i]];
  }
  DeviceArray<unsigned> device_keys(keys), table(std::vector<unsigned>(kCapacity, kEmpty));
  DeviceArray<unsigned> counts(std::vector<unsigned>(kCapacity, 0)), device_wanted(wanted),
      out(wanted.size());
  count_keys<<<4, 128>>>(device_keys.data(), n, table.data(), counts.data());
  look_up<<<5, 64>>>(device_wanted.data(), (int)wanted.size(), table.data(), counts.data(),
                     out.data());
  expect_equal("counts", out.values(), expected);
  return verdict();
}
