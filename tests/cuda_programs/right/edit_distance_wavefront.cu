// The edit distance of two words by anti-diagonals: a block moves three of them through shared
// memory.
#include "../program.cuh"

#include <cstring>

__global__ void edit_distance(const char* a, int length_a, const char* b, int length_b, int* out) {
  extern __shared__ int diagonals[];
  int* const diagonal[3] = {diagonals, diagonals + length_a + 1, diagonals + 2 * (length_a + 1)};
  for (int d = 0; d <= length_a + length_b; ++d) {
    int* const now = diagonal[d % 3];
    const int* const last = diagonal[(d + 2) % 3];
    const int* const before = diagonal[(d + 1) % 3];
    for (int i = max(0, d - length_b) + threadIdx.x; i <= min(d, length_a); i += blockDim.x) {
      const int k = d - i;
      if (i == 0 || k == 0)
        now[i] = d;
      else
        now[i] = min(min(last[i - 1], last[i]) + 1, before[i - 1] + (a[i - 1] != b[k - 1]));
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = diagonal[(length_a + length_b) % 3][length_a];
}

int distance(const char* a, const char* b) {
  const int n = (int)std::strlen(a), m = (int)std::strlen(b);
  DeviceArray<char> device_a(std::vector<char>(a, a + n)), device_b(std::vector<char>(b, b + m));
  DeviceArray<int> out(1);
  edit_distance<<<1, 32, 3 * (n + 1) * sizeof(int)>>>(device_a.data(), n, device_b.data(), m,
                                                      out.data());
  return out.values()[0];
}

int main() {
  expect_equal("kitten", distance("kitten", "sitting"), 3);
  expect_equal("same", distance("wavefront", "wavefront"), 0);
  expect_equal("flaw", distance("flaw", "lawn"), 2);
  expect_equal("all new", distance("abc", "defghij"), 7);
  expect_equal(
      "one more in the middle",
      distance("a block of thirty-two threads has to go round twice for a word of this length",
               "a block of thirty-two threads has to go around twice for a word of that length"),
      3);
  return verdict();
}
