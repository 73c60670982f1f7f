// finds: data race in global memory, lines 7 and 14
// The data is published by a flag, but nothing orders the data before the flag.
#include "../program.cuh"

__global__ void pass_on(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 3 * threadIdx.x;
    __syncwarp();
    if (threadIdx.x == 0) atomicExch(flag, 1);
  } else {
    if (threadIdx.x == 0)
      while (atomicAdd(flag, 0) == 0) __nanosleep(20);
    __syncwarp();
    out[threadIdx.x] = data[31 - threadIdx.x];
  }
}

int main() {
  DeviceArray<int> data(32), out(32), flag(std::vector<int>(1, 0));
  pass_on<<<2, 32>>>(data.data(), flag.data(), out.data());
  return out.values().size() != 32;
}
