// finds: out of bounds read, line 10
// One of the tokens is the size of the vocabulary, and no row of the table.
#include "../program.cuh"

constexpr int kWidth = 16;

__global__ void embed(const float* table, const int* tokens, float* out, int n) {
  const int token = blockIdx.x;
  if (token < n)
    out[token * kWidth + threadIdx.x] = table[tokens[token] * kWidth + threadIdx.x];
}

int main() {
  const int vocabulary = 12, n = 20;
  std::vector<int> tokens = random_ints(n, 0, vocabulary - 1);
  tokens[13] = vocabulary;
  DeviceArray<float> table(random_floats(vocabulary * kWidth)), out(n * kWidth);
  DeviceArray<int> device_tokens(tokens);
  embed<<<n, kWidth>>>(table.data(), device_tokens.data(), out.data(), n);
  return out.values().size() != n * kWidth;
}
