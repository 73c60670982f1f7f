// Gather, scatter-add, embedding and the sums of bags of embeddings, with 64-bit indices.
#include <cuda_bf16.h>

__global__ void gather_kernel(const float* x, const long long* index, float* out, int columns,
                              int picks) {
  const int pick = blockIdx.x * blockDim.x + threadIdx.x;
  if (pick < picks)
    out[blockIdx.y * picks + pick] = x[blockIdx.y * columns + index[blockIdx.y * picks + pick]];
}

__global__ void scatter_add_kernel(float* out, const long long* index, const float* x, int columns,
                                   int picks) {
  const int pick = blockIdx.x * blockDim.x + threadIdx.x;
  if (pick < picks)
    atomicAdd(out + blockIdx.y * columns + index[blockIdx.y * picks + pick],
              x[blockIdx.y * picks + pick]);
}

__global__ void embedding_kernel(const __nv_bfloat162* table, const long long* tokens,
                                 __nv_bfloat162* out, int pairs) {
  const long long row = tokens[blockIdx.x];
  for (int p = threadIdx.x; p < pairs; p += blockDim.x)
    out[blockIdx.x * pairs + p] = table[row * pairs + p];
}

__global__ void bag_sums_kernel(const float* table, const long long* tokens,
                                const long long* starts, float* out, int bags, int num_tokens,
                                int width) {
  const int bag = blockIdx.x;
  const long long end = bag + 1 < bags ? starts[bag + 1] : num_tokens;
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    float sum = 0;
    for (long long t = starts[bag]; t < end; ++t) sum += table[tokens[t] * width + c];
    out[bag * width + c] = sum;
  }
}

extern "C" void gather(const float* x, const long long* index, float* out, int rows, int columns,
                       int picks) {
  gather_kernel<<<dim3((picks + 63) / 64, rows), 64>>>(x, index, out, columns, picks);
}
extern "C" void scatter_add(float* out, const long long* index, const float* x, int rows,
                            int columns, int picks) {
  scatter_add_kernel<<<dim3((picks + 63) / 64, rows), 64>>>(out, index, x, columns, picks);
}
extern "C" void embedding(const __nv_bfloat16* table, const long long* tokens, __nv_bfloat16* out,
                          int num_tokens, int width) {
  embedding_kernel<<<num_tokens, 32>>>((const __nv_bfloat162*)table, tokens, (__nv_bfloat162*)out,
                                       width / 2);
}
extern "C" void bag_sums(const float* table, const long long* tokens, const long long* starts,
                         float* out, int bags, int num_tokens, int width) {
  bag_sums_kernel<<<bags, 32>>>(table, tokens, starts, out, bags, num_tokens, width);
}
