// finds: deadlock, line 7
// Who finds nothing to do leaves without giving the lock back.
#include "../program.cuh"

__global__ void append_positive(const int* x, int* lock, int* length, int* out) {
  const int value = x[threadIdx.x];
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(10);
  __threadfence();
  if (value <= 0) return;
  out[(*length)++] = value;
  __threadfence();
  atomicExch(lock, 0);
}

int main() {
  DeviceArray<int> x(random_ints(64, -9, 9)), out(64), lock(std::vector<int>(1, 0)),
      length(std::vector<int>(1, 0));
  append_positive<<<1, 64>>>(x.data(), lock.data(), length.data(), out.data());
  return length.values()[0] < 0;
}
