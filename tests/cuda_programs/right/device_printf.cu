// prints: block 0 of 1 says     7 of -3 is 2.50e+00, x, text 100% ff
// printf on the device takes the formats of C.
#include "../program.cuh"

__global__ void say(int a, long long b, double c) {
  if (threadIdx.x != 3) return;
  printf("block %d of %u says %5d of %lld is %.2e, %c, %s 100%% %x\n", blockIdx.x, gridDim.x, a, b,
         c, 'x', "text", 255);
}

int main() {
  say<<<1, 8>>>(7, -3, 2.5);
  CHECK(cudaDeviceSynchronize());
  return verdict();
}
