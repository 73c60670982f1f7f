// finds: out of bounds read, line 7
// A table is freed before the second kernel that looks things up in it.
#include "../program.cuh"

__global__ void look_up(const int* table, const int* keys, int n, int* out) {
  const int i = threadIdx.x;
  if (i < n) out[i] = table[keys[i]];
}

int main() {
  const int n = 40;
  const std::vector<int> squares = random_ints(10, 0, 99);
  DeviceArray<int> keys(random_ints(n, 0, 9)), out(n);
  int* table;
  CHECK(cudaMalloc(&table, 10 * sizeof(int)));
  CHECK(cudaMemcpy(table, squares.data(), 10 * sizeof(int), cudaMemcpyHostToDevice));
  look_up<<<1, 64>>>(table, keys.data(), n, out.data());
  CHECK(cudaFree(table));
  look_up<<<1, 64>>>(table, keys.data(), n, out.data());
  return out.values().size() != n;
}
