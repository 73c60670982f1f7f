// Warp intrinsics without a mask: all seven of them, in whole warps, in half of one and in a function.
#include <cstdio>

__global__ void shuffles(int* out) {
  const int lane = threadIdx.x;
  out[0 * 32 + lane] = __shfl(lane * 10, 3);
  out[1 * 32 + lane] = __shfl(lane, lane + 2, 16);
  out[2 * 32 + lane] = __shfl_up(lane, 2);
  out[3 * 32 + lane] = __shfl_down(lane, 2, 8);
  out[4 * 32 + lane] = __shfl_xor(lane, 5);
}

__global__ void votes(unsigned* out) {
  const int lane = threadIdx.x;
  if (lane < 16) {
    out[0 * 32 + lane] = __ballot(lane % 2);
    out[1 * 32 + lane] = __any(lane == 20);
    out[2 * 32 + lane] = __all(lane < 16);
  } else {
    out[0 * 32 + lane] = __ballot(lane > 29);
    out[1 * 32 + lane] = __any(lane == 20);
    out[2 * 32 + lane] = __all(lane < 31);
  }
}

__device__ double sum_of_warp(double value) {
  for (int offset = 16; offset; offset /= 2) value += __shfl_xor(value, offset);
  return value;
}

__global__ void sum(const double* in, double* out) {
  __shared__ double sums[32];
  double value = sum_of_warp(in[threadIdx.x]);
  if (threadIdx.x % warpSize == 0) sums[threadIdx.x / warpSize] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / warpSize ? sums[threadIdx.x] : 0.0;
  if (threadIdx.x < warpSize) value = sum_of_warp(value);
  if (threadIdx.x == 0) *out = value;
}

int num_wrong = 0;
void expect(const char* what, int lane, double actual, double expected) {
  if (actual == expected) return;
  ++num_wrong;
  printf("%s, lane %d: %g, not %g\n", what, lane, actual, expected);
}

int main() {
  int* moved;
  unsigned* voted;
  double *in, *total;
  cudaMallocManaged(&moved, 5 * 32 * sizeof *moved);
  cudaMallocManaged(&voted, 3 * 32 * sizeof *voted);
  cudaMallocManaged(&in, 256 * sizeof *in);
  cudaMallocManaged(&total, sizeof *total);
  for (int i = 0; i < 256; ++i) in[i] = i;
  shuffles<<<1, 32>>>(moved);
  votes<<<1, 32>>>(voted);
  sum<<<1, 256>>>(in, total);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int lane = 0; lane < 32; ++lane) {
    expect("__shfl", lane, moved[lane], 30);
    expect("__shfl of 16", lane, moved[32 + lane], lane / 16 * 16 + (lane + 2) % 16);
    expect("__shfl_up", lane, moved[64 + lane], lane < 2 ? lane : lane - 2);
    expect("__shfl_down of 8", lane, moved[96 + lane], lane % 8 < 6 ? lane + 2 : lane);
    expect("__shfl_xor", lane, moved[128 + lane], lane ^ 5);
    expect("__ballot", lane, voted[lane], lane < 16 ? 0xaaaau : 0xc0000000u);
    expect("__any", lane, voted[32 + lane], lane >= 16);
    expect("__all", lane, voted[64 + lane], lane < 16);
  }
  expect("sum", 0, *total, 255 * 256 / 2);
  if (num_wrong == 0) puts("ok");
  return num_wrong != 0;
}
