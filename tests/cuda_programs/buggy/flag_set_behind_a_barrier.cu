// finds: deadlock, lines 10 and 11
// One thread spins for a flag that another sets only after a barrier, which needs both.
#include "../program.cuh"

__global__ void wait_for_flag(int* out) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0)
    while (atomicAdd(&flag, 0) == 0) __nanosleep(10);
  __syncthreads();
  if (threadIdx.x == 33) atomicExch(&flag, 1);
  out[threadIdx.x] = threadIdx.x;
}

int main() {
  DeviceArray<int> out(64);
  wait_for_flag<<<1, 64>>>(out.data());
  return out.values().size() != 64;
}
