// Sorts keys and the values that belong to them by a bitonic network in one block.
#include "../program.cuh"

#include <climits>

constexpr int kSize = 512;

__global__ void sort_pairs(int* keys, int* values, int n) {
  __shared__ int key[kSize], value[kSize];
  const int t = threadIdx.x;
  key[t] = t < n ? keys[t] : INT_MAX;
  value[t] = t < n ? values[t] : -1;
  for (int length = 2; length <= kSize; length *= 2) {
    for (int distance = length / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const int other = t ^ distance;
      if (other > t) {
        const bool ascending = (t & length) == 0;
        if ((key[t] > key[other]) == ascending) {
          const int k = key[t], v = value[t];
          key[t] = key[other];
          value[t] = value[other];
          key[other] = k;
          value[other] = v;
        }
      }
    }
  }
  __syncthreads();
  if (t < n) {
    keys[t] = key[t];
    values[t] = value[t];
  }
}

int main() {
  const int n = 300;
  std::vector<int> keys(n), values(n);
  for (int i = 0; i < n; ++i) {
    keys[i] = i * 211 % n - 150;  // a permutation: 211 and 300 have no common divisor
    values[i] = i;
  }
  DeviceArray<int> device_keys(keys), device_values(values);
  sort_pairs<<<1, kSize>>>(device_keys.data(), device_values.data(), n);
  std::vector<int> expected_keys(n), expected_values(n);
  for (int i = 0; i < n; ++i) {
    expected_keys[keys[i] + 150] = keys[i];
    expected_values[keys[i] + 150] = i;
  }
  expect_equal("keys", device_keys.values(), expected_keys);
  expect_equal("values", device_values.values(), expected_values);
  return verdict();
}
