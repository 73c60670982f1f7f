// finds: out of bounds write, line 7
// The index is kept in a short to save registers; it becomes negative from 32,768 on.
#include "../program.cuh"

__global__ void ramp(unsigned char* out, int n) {
  const short i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i % 251;
}

int main() {
  const int n = 40000;
  DeviceArray<unsigned char> out(n);
  ramp<<<(n + 255) / 256, 256>>>(out.data(), n);
  return out.values().size() != n;
}
