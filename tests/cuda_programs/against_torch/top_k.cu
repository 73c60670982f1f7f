// The k largest numbers of each row, in order: each round removes the largest that is left.
struct Best {
  float value;
  int place;
};

__device__ Best better(Best a, Best b) {
  return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a;
}

__global__ void top_k_kernel(const float* x, float* values, long long* places, int columns, int k) {
  extern __shared__ float row[];
  __shared__ Best of_warps[4];
  for (int c = threadIdx.x; c < columns; c += 128) row[c] = x[blockIdx.x * columns + c];
  for (int round = 0; round < k; ++round) {
    __syncthreads();
    Best best = {-INFINITY, columns};
    for (int c = threadIdx.x; c < columns; c += 128) best = better(best, {row[c], c});
    for (int offset = 16; offset; offset /= 2)
      best = better(best, {__shfl_down_sync(0xffffffffu, best.value, offset),
                           __shfl_down_sync(0xffffffffu, best.place, offset)});
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x) continue;
    for (int w = 1; w < 4; ++w) best = better(best, of_warps[w]);
    values[blockIdx.x * k + round] = best.value;
    places[blockIdx.x * k + round] = best.place;
    row[best.place] = -INFINITY;
  }
}

extern "C" void top_k(const float* x, float* values, long long* places, int rows, int columns,
                      int k) {
  top_k_kernel<<<rows, 128, columns * sizeof(float)>>>(x, values, places, columns, k);
}
