// finds: data race in global memory, line 8
// A filter numbers what it keeps with an ordinary increment.
#include "../program.cuh"

__global__ void keep_even(const int* x, int n, int* count, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || x[i] % 2) return;
  const int place = (*count)++;
  out[place] = x[i];
}

int main() {
  const int n = 100;
  DeviceArray<int> x(random_ints(n, 0, 99)), count(std::vector<int>(1, 0)),
      out(std::vector<int>(n, 0));
  keep_even<<<2, 64>>>(x.data(), n, count.data(), out.data());
  return count.values()[0] < 0;
}
