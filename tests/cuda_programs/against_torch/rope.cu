// Rotary position embedding: pairs of features turn by an angle that grows with the position.
__global__ void rope_kernel(const float* x, float* out, int length, int heads, int half,
                            float base) {
  const int pair = threadIdx.x, head = blockIdx.y, position = blockIdx.x;
  if (pair >= half) return;
  float s, c;
  sincosf(position * powf(base, -(float)pair / half), &s, &c);
  const size_t first = ((size_t)(blockIdx.z * length + position) * heads + head) * 2 * half + pair;
  out[first] = x[first] * c - x[first + half] * s;
  out[first + half] = x[first + half] * c + x[first] * s;
}

extern "C" void rope(const float* x, float* out, int batch, int length, int heads, int dim,
                     float base) {
  rope_kernel<<<dim3(length, heads, batch), (dim / 2 + 31) / 32 * 32>>>(x, out, length, heads,
                                                                        dim / 2, base);
}
