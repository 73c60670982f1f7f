// Keys of several types as whole numbers in the same order, and back: the first step of a radix sort.
#include <cuda_fp16.h>

#include <cub/cub.cuh>

#include "../program.cuh"

template <class T>
__global__ void compare(const T* keys, int n, int* num_wrong) {
  using Bits = typename cub::Traits<T>::UnsignedBits;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Bits own = cub::Traits<T>::TwiddleIn(reinterpret_cast<const Bits&>(keys[i]));
  Bits back = cub::Traits<T>::TwiddleOut(own);
  int wrong = !(reinterpret_cast<T&>(back) == keys[i]);
  for (int k = 0; k < n; ++k) {
    const Bits other = cub::Traits<T>::TwiddleIn(reinterpret_cast<const Bits&>(keys[k]));
    wrong += (own < other) != (keys[i] < keys[k]);
  }
  atomicAdd(num_wrong, wrong);
}

template <class T>
void try_keys(const char* name) {
  const std::vector<int> numbers = random_ints(300, 0, 100000, 7);
  std::vector<T> keys;
  for (const int number : numbers) {
    const int divisor = sizeof(T) == 1 ? 1000 : sizeof(T) == 2 ? 7 : 1;
    const int centred = T(-1) < T(0) ? number - 50000 : number;
    keys.push_back(T(float(centred / divisor) + 0.25f));
  }
  DeviceArray<T> device_keys(keys);
  DeviceArray<int> num_wrong(std::vector<int>{0});
  compare<<<3, 128>>>(device_keys.data(), 300, num_wrong.data());
  expect_equal(name, num_wrong.values()[0], 0);
}

int main() {
  try_keys<float>("float");
  try_keys<double>("double");
  try_keys<int>("int");
  try_keys<unsigned>("unsigned");
  try_keys<long long>("long long");
  try_keys<short>("short");
  try_keys<unsigned char>("unsigned char");
  try_keys<signed char>("signed char");
  try_keys<__half>("half");
  return verdict();
}
