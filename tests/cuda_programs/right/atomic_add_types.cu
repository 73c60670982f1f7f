// atomicAdd of float, double, half2 and bfloat16, in global and in shared memory.
#include "../program.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Sums {
  float single;
  double twice;
  __half2 pair;
  __nv_bfloat162 brain_pair;
  __half half_alone;
  __nv_bfloat16 brain_alone;
};

__global__ void add_up(Sums* sums, float* block_sums, int n) {
  __shared__ float in_block;
  if (threadIdx.x == 0) in_block = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&sums->single, 0.25f);
    atomicAdd(&sums->twice, 1e-9 * 1024);
    atomicAdd(&sums->pair, __floats2half2_rn(1.0f, -0.5f));
    atomicAdd(&sums->brain_pair, __floats2bfloat162_rn(0.5f, 2.0f));
    atomicAdd(&sums->half_alone, __float2half(2.0f));
    atomicAdd(&sums->brain_alone, __float2bfloat16(-1.0f));
    atomicAdd(&in_block, 1.5f);
  }
  __syncthreads();
  if (threadIdx.x == 0) block_sums[blockIdx.x] = in_block;
}

int main() {
  const int n = 200, threads = 64, blocks = 4;
  Sums zero;
  zero.single = 0;
  zero.twice = 0;
  zero.pair = __floats2half2_rn(0, 0);
  zero.brain_pair = __floats2bfloat162_rn(0, 0);
  zero.half_alone = __float2half(0);
  zero.brain_alone = __float2bfloat16(0);
  DeviceArray<Sums> sums(std::vector<Sums>(1, zero));
  DeviceArray<float> block_sums(blocks);
  add_up<<<blocks, threads>>>(sums.data(), block_sums.data(), n);
  const Sums got = sums.values()[0];
  expect_equal("float", got.single, 50.0f);
  expect_close("double", 0, got.twice, 200 * 1e-9 * 1024, 1e-15);
  expect_equal("half2.x", __low2float(got.pair), 200.0f);
  expect_equal("half2.y", __high2float(got.pair), -100.0f);
  expect_equal("bfloat162.x", __low2float(got.brain_pair), 100.0f);
  // Exact, although above 256: every partial sum is even, and so has eight significant bits.
  expect_equal("bfloat162.y", __high2float(got.brain_pair), 400.0f);
  expect_equal("half", __half2float(got.half_alone), 400.0f);
  expect_equal("bfloat16", __bfloat162float(got.brain_alone), -200.0f);
  expect_equal("blocks", block_sums.values(), std::vector<float>{96, 96, 96, 12});
  return verdict();
}
