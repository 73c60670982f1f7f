// Kernels that the processor stops.
#include <cuda_runtime.h>

#include <cassert>

// Downwards: above, the address space may end too soon.
__global__ void far_away(int* x) { x[-(1LL << 34)] = 1; }
// Runs as fibers: a mask that names some lanes only is not cut into phases.
__global__ void far_away_after_barrier(int* x) {
  __syncwarp(0xffu);
  if (threadIdx.x == 7) x[-(1LL << 34)] = 1;
}
// Runs as phases, several threads at a time.
__global__ void divides(int* x) {
  __syncthreads();
  x[0] = 7 / x[threadIdx.x];
}
__global__ void traps() { __trap(); }
__global__ void asserts(const int* x) { assert(x[0] == 12345); }
__global__ void deep(int* x) {
  volatile int large[100000];
  large[threadIdx.x] = 1;
  __syncthreads();
  for (int i = 99999; i >= 0; --i) large[i] = x[0];
  x[1] = large[5];
}
extern "C" void fault(int which, int* x) {
  switch (which) {
    case 0: far_away<<<3, 8>>>(x); break;
    case 1: far_away_after_barrier<<<1, 8>>>(x); break;
    case 2: divides<<<1, 8>>>(x); break;
    case 3: traps<<<1, 1>>>(); break;
    case 4: asserts<<<1, 1>>>(x); break;
    case 5: deep<<<1, 4>>>(x); break;
    case 7: far_away_after_barrier<<<1, 8>>>((int*)((size_t)1 << 60)); break;
    case 6: *(volatile int*)nullptr = 1; break;
  }
}
