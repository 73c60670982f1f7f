// finds: uninitialised read of global memory, line 8
// Nobody has set the counter to zero before the first atomic.
#include "../program.cuh"

__global__ void number(const int* x, int n, unsigned* counter, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || x[i] < 50) return;
  const unsigned place = atomicAdd(counter, 1u);
  if (place < n) out[place] = i;
}

int main() {
  const int n = 100;
  DeviceArray<int> x(random_ints(n, 0, 99)), out(n);
  DeviceArray<unsigned> counter(1);
  number<<<1, 128>>>(x.data(), n, counter.data(), out.data());
  return counter.values().size() != 1;
}
