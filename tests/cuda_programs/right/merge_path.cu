// Merges two sorted arrays: each thread finds by bisection where its part of the result begins.
#include "../program.cuh"

#include <algorithm>

constexpr int kPerThread = 5;

// How many of the first `diagonal` merged elements come from a.
__device__ int split(const int* a, int size_a, const int* b, int size_b, int diagonal) {
  int low = max(0, diagonal - size_b), high = min(diagonal, size_a);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (a[middle] <= b[diagonal - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

__global__ void merge(const int* a, int size_a, const int* b, int size_b, int* out) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * kPerThread, size = size_a + size_b;
  if (first >= size) return;
  int i = split(a, size_a, b, size_b, first), k = first - i;
  for (int at = first; at < min(first + kPerThread, size); ++at) {
    const bool from_a = k >= size_b || (i < size_a && a[i] <= b[k]);
    out[at] = from_a ? a[i++] : b[k++];
  }
}

int main() {
  for (int size_a : {1, 100, 333}) {
    const int size_b = 257;
    std::vector<int> a = random_ints(size_a, 0, 200, size_a), b = random_ints(size_b, 50, 300),
                     expected = a;
    expected.insert(expected.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::sort(expected.begin(), expected.end());
    DeviceArray<int> device_a(a), device_b(b), out(size_a + size_b);
    merge<<<4, 32>>>(device_a.data(), size_a, device_b.data(), size_b, out.data());
    expect_equal("merged", out.values(), expected);
  }
  return verdict();
}
