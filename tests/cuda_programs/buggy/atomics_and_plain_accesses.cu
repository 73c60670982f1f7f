// finds: data race in global memory, lines 8 and 9
// Places are given out by an atomic counter, which others read without one to see what is left.
#include "../program.cuh"

__global__ void take_places(const int* x, int n, int capacity, int* counter, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || x[i] < 0) return;
  if (*counter >= capacity) return;
  const int place = atomicAdd(counter, 1);
  if (place < capacity) out[place] = x[i];
}

int main() {
  const int n = 300, capacity = 50;
  DeviceArray<int> x(random_ints(n, -9, 99)), counter(std::vector<int>(1, 0)),
      out(std::vector<int>(capacity, 0));
  take_places<<<3, 100>>>(x.data(), n, capacity, counter.data(), out.data());
  return counter.values()[0] < 0;
}
