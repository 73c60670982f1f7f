// finds: data race in shared memory, line 11
// A scan in one buffer adds what the left neighbour may have changed already.
#include "../program.cuh"

__global__ void inclusive_scan(const int* x, int* out) {
  __shared__ int sums[128];
  const int t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  for (int offset = 1; offset < 128; offset *= 2) {
    if (t >= offset) sums[t] += sums[t - offset];
    __syncthreads();
  }
  out[t] = sums[t];
}

int main() {
  DeviceArray<int> x(random_ints(128, 0, 9)), out(128);
  inclusive_scan<<<1, 128>>>(x.data(), out.data());
  return out.values().size() != 128;
}
