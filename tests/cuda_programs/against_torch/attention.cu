// Attention with or without a causal mask: one block a query, its scores in dynamic shared memory.
__device__ float over_block(float value, bool is_sum) {
  __shared__ float of_warps[4];
  for (int offset = 16; offset; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = is_sum ? value + other : fmaxf(value, other);
  }
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warps[0];
  for (int w = 1; w < 4; ++w) value = is_sum ? value + of_warps[w] : fmaxf(value, of_warps[w]);
  __syncthreads();
  return value;
}

__global__ void attention_kernel(const float* q, const float* k, const float* v, float* out,
                                 int length, int dim, bool causal) {
  extern __shared__ float scores[];
  const int row = blockIdx.x, seen = causal ? row + 1 : length;
  const size_t head = (size_t)blockIdx.y * length * dim;
  float largest = -INFINITY, sum = 0;
  for (int j = threadIdx.x; j < seen; j += blockDim.x) {
    float score = 0;
    for (int d = 0; d < dim; ++d) score += q[head + row * dim + d] * k[head + j * dim + d];
    scores[j] = score * rsqrtf((float)dim);
    largest = fmaxf(largest, scores[j]);
  }
  largest = over_block(largest, false);
  for (int j = threadIdx.x; j < seen; j += blockDim.x) sum += scores[j] = expf(scores[j] - largest);
  sum = over_block(sum, true);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float value = 0;
    for (int j = 0; j < seen; ++j) value += scores[j] * v[head + j * dim + d];
    out[head + row * dim + d] = value / sum;
  }
}

extern "C" void attention(const float* q, const float* k, const float* v, float* out, int heads,
                          int length, int dim, int causal) {
  attention_kernel<<<dim3(length, heads), 128, length * sizeof(float)>>>(q, k, v, out, length, dim,
                                                                         causal != 0);
}
